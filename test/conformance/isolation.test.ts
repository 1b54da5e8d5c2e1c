/**
 * Graphs that block their event loop: others continue, and the blocking one can be ended. Several
 * at once are in `unit/graph/engine/spinners.night.ts`.
 */

import { describe, expect, it } from 'vitest'
import { engineLoadMs } from '../support/engine-load.ts'
import { useGates } from '../support/gate.ts'
import type { Gate } from '../support/gate.ts'
import { startHeld } from '../support/held-run.ts'
import { isNight } from '../support/repeats.ts'
import { say, texts } from '../support/run-events.ts'
import { useServer } from '../support/server.ts'
import { tookMs } from '../support/stillness.ts'
import { ask } from '../support/wire.ts'

/** A server of its own: the spinning graphs would delay files that share a server. */
const server = useServer({ args: ['--workers', '2'] })
const gate = useGates()

/** A spinner would delay answers for ever; the nodes of Cassandra beside it only for a while. */
const storeMs = process.env['HEDDLE_TEST_STORE'] === 'cassandra' ? 3_000 : 0

const newThread = async () => (await server.client.threads.create()).thread_id

/** A run that spins for ever; resolves when it does. */
async function startSpinner(begun: Gate): Promise<{ id: string; runId: string }> {
  const id = await newThread()
  begun.open()
  const run = await server.client.runs.create(id, 'spin', { input: { ms: -1, tell: begun.url } })
  await begun.arrived()
  return { id, runId: run.run_id }
}

async function timed(call: () => Promise<unknown>): Promise<number> {
  const began = performance.now()
  await call()
  return tookMs(began)
}

/** Five seconds is the promise; a run that moves may also have to wait until a worker starts. */
async function expectShortDelay(call: () => Promise<unknown>): Promise<void> {
  const [ms, engineMs] = await Promise.all([timed(call), engineLoadMs()])
  expect(ms).toBeLessThan(5_000 + Math.max(3_000, 2 * engineMs) + storeMs)
}

describe('while a graph spins', () => {
  it('the server answers at once, and its cancel ends it: its thread works again', async () => {
    const { runs, threads } = server.client
    const other = await newThread()
    await runs.wait(other, 'echo', { input: say('x') })
    const spinner = await startSpinner(gate())
    const asks: readonly (() => Promise<unknown>)[] = [() => ask(server.url, 'GET', '/ok'),
      () => threads.get(other), () => threads.getState(other), () => threads.get(spinner.id)]
    for (const each of asks) {
      const times: number[] = []
      for (let n = 0; n < 10; n += 1) times.push(await timed(each))
      // The machine delays some of them, a spinner would delay all.
      expect(times.toSorted((a, b) => a - b)[5]).toBeLessThan(500 + storeMs)
    }
    const cancel = () => runs.cancel(spinner.id, spinner.runId, true)
    const [ms, engineMs] = await Promise.all([timed(cancel), engineLoadMs()])
    expect(ms).toBeLessThan(Math.max(2_000, 4 * engineMs) + storeMs)
    expect(await runs.get(spinner.id, spinner.runId)).toMatchObject({ status: 'interrupted' })
    expect((await threads.get(spinner.id)).status).not.toBe('busy')
    expect(texts(await runs.wait(spinner.id, 'echo', { input: say('again') })))
      .toEqual(['again', 'echo: again'])
  })

  it.runIf(isNight)('new runs of other threads are delayed by five seconds at most', async () => {
    const spinner = await startSpinner(gate())
    await expectShortDelay(() =>
      Promise.all(
        Array.from({ length: 6 },
          async () => server.client.runs.wait(await newThread(), 'echo', { input: say('x') })),
      )
    )
    await server.client.runs.cancel(spinner.id, spinner.runId, true)
  })

  it.runIf(isNight)('runs that share its worker continue elsewhere, and stream every event once',
    async () => {
      const held = await Promise.all(Array.from({ length: 6 }, async () => {
        const hold = gate()
        return { hold, run: await startHeld(server.client, await newThread(), hold) }
      }))
      const spinner = await startSpinner(gate())
      for (const { hold } of held) hold.open()
      await expectShortDelay(async () => {
        for (const { run } of held) {
          const parts = await run.stream.rest()
          expect(parts.filter(({ event }) => event === 'updates')
            .flatMap(({ data }) => Object.keys(data as object))).toEqual(['first', 'hold', 'last'])
        }
      })
      await server.client.runs.cancel(spinner.id, spinner.runId, true)
    })
})

describe('a graph that spins for a while', () => {
  it('succeeds, and is executed once', async () => {
    const id = await newThread()
    expect(await server.client.runs.wait(id, 'spin', { input: { ms: 1_500, notify: '' } }))
      .toMatchObject({ done: true })
    expect(await server.client.threads.get(id)).toMatchObject({ status: 'idle' })
    expect(await server.client.runs.list(id)).toHaveLength(1)
  })
})
