/** A graph process that is killed while it loads: its runs wait for the next one, and succeed. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { graphProcesses } from '../../support/graph-processes.ts'
import { say } from '../../support/run-events.ts'
import { oneWorker, startServer } from '../../support/server-process.ts'
import type { ServerProcess } from '../../support/server-process.ts'
import { deployedProject, replying } from './deployed-project.ts'
import type { DeployedProject } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

/** Moments within one load at which a process is killed. */
const points = 50
const pointsPerRevision = 2
const runsAtOnce = 8

let project: DeployedProject
let server: ServerProcess
let shop: DeployTarget

beforeAll(async () => {
  ;[project, server] = await Promise.all([deployedProject(), startServer({ args: oneWorker })])
  shop = new DeployTarget(server.url, 'shop')
  expect(await shop.create()).toMatchObject({ status: 201 })
  await shop.deploy(await project.built(replying("return say('done')")))
})

afterAll(async () => {
  await server?.close()
  await project?.remove()
})

/** Kills the graph process. Resolves with the id of the one that takes its place. */
async function killed(): Promise<number> {
  const [pid = 0] = graphProcesses(server)
  if (pid > 0) process.kill(pid, 'SIGKILL')
  return pid
}

/** Starts runs in the background. Resolves with functions that return their status. */
async function started(): Promise<(() => Promise<string>)[]> {
  const { runs, threads } = shop.client
  return await Promise.all(Array.from({ length: runsAtOnce }, async () => {
    const { thread_id: id } = await threads.create()
    const { run_id: runId } = await runs.create(id, 'agent', { input: say('hello') })
    return async () => (await runs.get(id, runId)).status
  }))
}

type Runs = readonly (() => Promise<string>)[]

const getStatuses = (runs: Runs) => Promise.all(runs.map((status) => status()))

async function haveEnded(runs: Runs): Promise<boolean> {
  const unfinished = ['pending', 'running']
  return (await getStatuses(runs)).every((status) => !unfinished.includes(status))
}

/** Resolves with the statuses of the runs when all have ended. */
async function ended(runs: Runs): Promise<readonly string[]> {
  await expect.poll(() => haveEnded(runs)).toBe(true)
  return await getStatuses(runs)
}

function hasSuccessor(before: number): boolean {
  const [pid] = graphProcesses(server)
  return pid !== undefined && pid !== before
}

/** Resolves when there is a graph process other than the one before. */
async function successorOf(before: number): Promise<void> {
  await expect.poll(() => hasSuccessor(before), { interval: 2 }).toBe(true)
}

/** The same, or when the runs have ended, because then no process is started. */
async function successorForRuns(before: number, runs: Runs): Promise<void> {
  await expect.poll(async () => hasSuccessor(before) || await haveEnded(runs), { interval: 10 })
    .toBe(true)
}

it(`Runs succeed if the process that loads for them is killed, at ${points} moments.`, async () => {
  const success = Array<string>(runsAtOnce).fill('success')
  let loadMs = 0
  // The first load of a project takes longer than the others.
  for (const _ of ['first', 'second']) {
    const idle = await killed()
    const beganMs = performance.now()
    const runs = await started()
    await successorOf(idle)
    expect(await ended(runs)).toEqual(success)
    loadMs = performance.now() - beganMs
  }
  let kills = 0
  for (let point = 0; point < points; point++) {
    // Pauses between the starts of a revision grow with its failures. A new revision has none.
    if (point % pointsPerRevision === 0) {
      await shop.deploy(await project.built(replying(`return say('at point ${point}')`)))
    }
    const before = await killed()
    const runs = await started()
    await successorOf(before)
    await new Promise((resolve) => setTimeout(resolve, loadMs * point / points))
    const loading = await killed()
    await successorForRuns(loading, runs)
    if (point % 2 === 0) await killed()
    kills += point % 2 === 0 ? 2 : 1
    expect([point, await ended(runs)]).toEqual([point, success])
  }
  console.log({ loadMs: Math.round(loadMs), kills })
})

it('A deploy succeeds if the process that checks it is killed.', async () => {
  const built = await project.built(replying("return say('after a kill')"))
  const before = graphProcesses(server)
  const deploying = shop.deploy(built)
  await expect.poll(() => graphProcesses(server).find((pid) => !before.includes(pid)), {
    interval: 2,
  }).toBeDefined()
  process.kill(graphProcesses(server).find((pid) => !before.includes(pid))!, 'SIGKILL')
  await deploying
  expect(await shop.answer()).toBe('after a kill')
})
