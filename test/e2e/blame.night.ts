/** Runs in progress when the server dies: those that end it, and those that are only there. */

import { expect, it, onTestFinished } from 'vitest'
import { useGates } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { say, texts } from '../support/run-events.ts'
import { startServer } from '../support/server-process.ts'
import { clientOf } from '../support/server.ts'
import { onlyTheKillerLoses } from './blame/killer.ts'

const gate = useGates()

it('A run that sends SIGKILL to its process ends after three deaths; one beside it succeeds.',
  () => onlyTheKillerLoses({ graph: 'poison', kills: 3, error: 'WorkerCrashed' }, gate))

it('A run whose one object is beyond all limits ends when its own process is full.',
  () => onlyTheKillerLoses({ graph: 'grow', kills: 2, error: 'OutOfMemory' }, gate))

it('A run whose server dies again and again fails after three attempts.', async () => {
  const server = await startServer({ project: 'conformance' })
  onTestFinished(() => server.close())
  const client = clientOf(server.url)
  const { thread_id: id } = await client.threads.create()
  const hold = gate()
  const run = await startHeld(client, id, hold)
  void run.stream.rest().catch(() => undefined)
  for (let attempt = 1; attempt <= 3; attempt += 1) {
    await hold.arrived(attempt)
    await server.kill('SIGKILL')
    await server.restart()
  }
  await client.runs.join(id, run.runId)
  expect(await client.runs.get(id, run.runId)).toMatchObject({ status: 'error' })
  expect(await client.threads.get(id)).toMatchObject({ status: 'error' })
  expect(hold.count()).toBe(3)
  expect(texts(await client.runs.wait(id, 'echo', { input: say('on') })).at(-1)).toBe('echo: on')
})
