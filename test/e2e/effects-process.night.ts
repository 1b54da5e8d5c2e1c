/**
 * Effects that happen once, in a deployment whose graph process is killed at random times, or
 * stands still for long. With HEDDLE_KILLS there are so many kills.
 */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'

import { afterAll, beforeAll, expect, it, onTestFailed } from 'vitest'

import { Chance } from '../simulation/chance.ts'
import { oneWorker, startServer } from '../support/server-process.ts'
import type { ServerProcess } from '../support/server-process.ts'
import { root } from '../support/source-tree.ts'
import { deployedProject } from './deploy/deployed-project.ts'
import type { DeployedProject } from './deploy/deployed-project.ts'
import { DeployTarget } from './deploy/deploy-target.ts'
import { killLine, killSeed, killsMs, killTimes, patienceMs } from './effects/kill-times.ts'
import { Orders } from './effects/orders.ts'

const killMinutes = 0.25
const runs = 24
const slowMs = 600
/** Longer than an effect may take to begin. */
const stillMs = 30_000

const chance = new Chance(killSeed)
let orders: Orders
let project: DeployedProject
let server: ServerProcess
let shop: DeployTarget

beforeAll(async () => {
  orders = await Orders.open(chance, slowMs)
  const read = (name: string) =>
    readFileSync(join(root, 'test/support/projects/effects', name), 'utf8')
  ;[project, server] = await Promise.all([
    deployedProject({ 'langgraph.json': read('langgraph.json'), 'shop.ts': read('shop.ts') }),
    startServer({ args: oneWorker }),
  ])
  shop = new DeployTarget(server.url, 'shop')
  await shop.create({ limits: { memory_mb: 512, workers: 1 } })
  await shop.own('PUT', '/secrets/RECEIVER', { value: orders.url })
  await shop.deploy(await project.built(), { watch_s: 0, prepare_s: 600 })
}, patienceMs)
afterAll(async () => {
  await server?.close()
  await project?.remove()
  await orders.close()
})

/** The processes that the server has started: those of graphs. */
function graphProcesses(): readonly number[] {
  return readFileSync(`/proc/${server.pid}/task/${server.pid}/children`, 'utf8').trim().split(' ')
    .filter(Boolean).map(Number)
}

it(`kills of the process repeat no effect (HEDDLE_SEED=${killSeed})`, async () => {
  const beganMs = performance.now()
  let kills = 0
  onTestFailed(() => console.log(killLine([orders], kills, beganMs)))
  for (const _ of killTimes([orders], killMinutes)) {
    const placed = await orders.place([shop.client], runs)
    await pause(chance.between(0, slowMs))
    orders.cutNow()
    const killed = graphProcesses()
    expect(killed).not.toEqual([])
    for (const pid of killed) process.kill(pid, 'SIGKILL')
    kills++
    await orders.check(shop.client, placed)
  }
  console.log(killLine([orders], kills, beganMs))
  const { again, questions, inFlight } = orders.tally
  // Few kills may all have come too early, or too late.
  if (kills < 5) return
  expect(inFlight).toBeGreaterThan(kills)
  expect(again + questions).toBeGreaterThan(kills)
}, killsMs(killMinutes) + patienceMs)

it('a process that stands still for 30 s, and goes on, repeats none', async () => {
  const placed = await orders.place([shop.client], runs)
  const stopped = graphProcesses()
  for (const pid of stopped) process.kill(pid, 'SIGSTOP')
  await pause(stillMs)
  for (const pid of graphProcesses()) if (stopped.includes(pid)) process.kill(pid, 'SIGCONT')
  await orders.check(shop.client, placed)
}, patienceMs)
