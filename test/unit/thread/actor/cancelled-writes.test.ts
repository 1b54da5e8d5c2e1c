/** A run that is cut leaves its input and every completed superstep in the log. */

import { beforeEach, describe, expect, it } from 'vitest'

import { settled, ThreadHouse } from '../../../support/thread-house.ts'
import type { Scripted } from '../../../support/scripted-host.ts'
import type { StartRun } from '../../../../src/thread/index.ts'

const interrupt = { action: 'interrupt' } as const

const valuesOf = async ({ client }: ThreadHouse) => (await client.get('t', 'x')).values
const statusOf = async ({ client }: ThreadHouse, runId: string) =>
  (await client.getRun('t', 'x', runId)).status

/** A run whose worker has completed steps that are on their way to the thread. */
async function runWithSteps(texts: readonly string[],
  run: Partial<StartRun> = {}): Promise<{ house: ThreadHouse; runId: string; only: Scripted }> {
  const house = new ThreadHouse()
  const started = house.run(run)
  await house.client.startRun('t', 'x', started)
  const { host, host: { only } } = house
  host.stop = () => {
    for (const text of texts) void host.step(only, text)
    host.end(only, { status: 'aborted' })
  }
  return { house, runId: started.runId, only }
}

describe('a run whose steps are on their way', () => {
  it('keeps them when it is cancelled', async () => {
    const { house, runId } = await runWithSteps(['input', 'one'])
    await house.client.cancelRun('t', 'x', runId, interrupt)
    expect(await statusOf(house, runId)).toBe('interrupted')
    expect(await valuesOf(house)).toBe('{"log":["one","input"]}')
  })

  it('keeps steps that wait in the mailbox behind the cancel', async () => {
    const { house, runId, only } = await runWithSteps(['last'])
    const ended = house.run()
    await house.client.startRun('t', 'x', ended)
    await house.client.cancelRun('t', 'x', ended.runId, interrupt)
    const removed = Promise.withResolvers<void>()
    house.removesTraces = () => removed.promise
    const deleted = house.client.deleteRun('t', 'x', ended.runId)
    await settled()
    const cancelled = house.client.cancelRun('t', 'x', runId, interrupt)
    void house.host.step(only, 'input')
    void house.host.step(only, 'one')
    await settled()
    removed.resolve()
    await Promise.all([deleted, cancelled])
    expect(await valuesOf(house)).toBe('{"log":["last","one","input"]}')
  })

  it('keeps them when a new run interrupts it', async () => {
    const { house, runId } = await runWithSteps(['input', 'one'])
    await house.startRun('x', { strategy: 'interrupt' })
    expect(await statusOf(house, runId)).toBe('interrupted')
    const { executions: [, second] } = house.host
    expect(second!.headId).not.toBeNull()
    expect(await valuesOf(house)).toBe('{"log":["one","input"]}')
  })

  it('keeps them when it is deleted, and at its time limit', async () => {
    const deleted = await runWithSteps(['input', 'one'])
    await deleted.house.client.deleteRun('t', 'x', deleted.runId)
    expect(await valuesOf(deleted.house)).toBe('{"log":["one","input"]}')
    const { plan } = new ThreadHouse().run()
    const { house, runId } = await runWithSteps(['input', 'one'], {
      plan: { ...plan, timeoutMs: 5_000 },
    })
    house.env.advance(5_000)
    await settled()
    expect(await statusOf(house, runId)).toBe('timeout')
    expect(await valuesOf(house)).toBe('{"log":["one","input"]}')
  })

  it('loses them by a rollback', async () => {
    const { house, runId } = await runWithSteps(['input', 'one'])
    await house.client.cancelRun('t', 'x', runId, { action: 'rollback' })
    expect(await valuesOf(house)).toBe('{}')
  })

  it('ends as a success if its end arrives before the cancel is carried out', async () => {
    const { house, runId, only } = await runWithSteps([])
    house.host.stop = () => {
      void house.host.step(only, 'done')
      house.host.end(only)
    }
    await house.client.cancelRun('t', 'x', runId, interrupt)
    expect(await statusOf(house, runId)).toBe('success')
  })
})

describe('a worker that does not respond to a cancel', () => {
  let house: ThreadHouse
  let runId: string
  /** Executions that were only to add their input. */
  let added: boolean[]

  beforeEach(async () => {
    house = new ThreadHouse()
    const run = house.run()
    ;({ runId } = run)
    await house.client.startRun('t', 'x', run)
    house.host.stop = () => {}
    added = []
    house.host.executeStopped = (execution, source, listener) => {
      added.push(execution.stops === true)
      const scripted = { execution, source, listener, headId: execution.headId }
      void house.host.step(scripted, 'input')
      house.host.end(scripted, { status: 'drained' })
    }
  })

  const cancelLate = async () => {
    const cancelled = house.client.cancelRun('t', 'x', runId, interrupt)
    await settled()
    house.env.advance(3_000)
    await cancelled
  }

  it('delays it by three seconds, and another worker adds the input', async () => {
    await cancelLate()
    expect(await statusOf(house, runId)).toBe('interrupted')
    expect(await valuesOf(house)).toBe('{"log":["input"]}')
    expect(house.host.running.size).toBe(0)
    expect(added).toEqual([true])
  })

  it('needs no other worker if the log has the input', async () => {
    await house.host.step(house.host.only, 'input')
    await cancelLate()
    expect(await valuesOf(house)).toBe('{"log":["input"]}')
    expect(added).toEqual([])
  })

  it('cannot write steps after the cancel', async () => {
    const { only } = house.host
    await cancelLate()
    await expect(house.host.step(only, 'late')).rejects.toThrow()
    expect(await valuesOf(house)).toBe('{"log":["input"]}')
  })
})
