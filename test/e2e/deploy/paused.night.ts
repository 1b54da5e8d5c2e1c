/** A paused deployment: its queue waits, and its crons pass their times, also after a restart. */

import { afterAll, beforeAll, expect, it } from 'vitest'

import { useGates } from '../../support/gate.ts'
import { say, texts } from '../../support/run-events.ts'
import { oneWorker } from '../../support/server-process.ts'
import { startClocked } from '../crons/clocked-server.ts'
import type { ClockedServer } from '../crons/clocked-server.ts'
import { deployedProject, replying } from './deployed-project.ts'
import type { DeployedProject } from './deployed-project.ts'
import { DeployTarget } from './deploy-target.ts'

const newGate = useGates()
/** Far from the clock of this machine. */
const clock = (hour: number, minute: number, second = 0) =>
  Date.UTC(2031, 4, 5, hour, minute, second)

let project: DeployedProject
let server: ClockedServer
let shop: DeployTarget

beforeAll(async () => {
  ;[project, server] = await Promise.all([deployedProject(),
    startClocked(clock(12, 0), { args: oneWorker })])
  shop = new DeployTarget(server.url, 'shop')
  expect(await shop.create()).toMatchObject({ status: 201 })
  await shop.deploy(await project.built(replying(`
    const text = String(state.messages.at(-1).content)
    if (text.startsWith('http')) await fetch(text)
    return say('said')`)))
})

afterAll(async () => {
  await server?.close()
  await project?.remove()
})

/** Kills it and starts it at another time. */
async function restartAt(ms: number): Promise<void> {
  await server.kill('SIGKILL')
  // It reads the clock when it starts.
  await server.setClock(ms).catch(() => {})
  await server.restart()
}

it('Nothing starts while it is paused, and what waited starts when it resumes.', async () => {
  const { runs, threads, crons } = shop.client
  const pause = async (paused: boolean) =>
    expect(await shop.own('PATCH', '', { paused })).toMatchObject({ status: 200 })
  const { thread_id: id } = await threads.create()
  const gate = newGate()
  const first = await runs.create(id, 'agent', { input: say(gate.url) })
  await gate.arrived()
  const second = await runs.create(id, 'agent', { input: say('second') })
  await pause(true)
  gate.open()
  await runs.join(id, first.run_id)
  const { thread_id: cronThread } = await threads.create()
  await server.setClock(clock(12, 59, 58))
  await crons.createForThread(cronThread, 'agent', { schedule: '0 * * * *', input: say('cron') })
  const next = async () => (await crons.search({ limit: 1 }))[0]!.next_run_date
  await expect.poll(next, { timeout: 20_000 }).toContain('14:00:00')
  await restartAt(clock(16, 20))
  await expect.poll(next, { timeout: 20_000 }).toContain('17:00:00')
  expect((await runs.get(id, second.run_id)).status).toBe('pending')
  expect(await runs.list(cronThread)).toEqual([])

  await pause(false)
  await runs.join(id, second.run_id)
  expect(texts((await threads.getState(id)).values).at(-1)).toBe('said')
  expect((await runs.get(id, second.run_id)).status).toBe('success')
  expect(await runs.list(cronThread)).toEqual([])
  await restartAt(clock(19, 20))
  await expect.poll(async () => (await runs.list(cronThread)).length, { timeout: 20_000 }).toBe(1)
})
