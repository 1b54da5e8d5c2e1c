/** Runs that are cut short, delayed or moved: what remains of them, and when the next begins. */

import { describe, expect, it } from 'vitest'

import { updates } from '../../../support/scripted-host.ts'
import { aRun, settled, ThreadHouse } from '../../../support/thread-house.ts'
import { ThreadPair } from '../../../support/thread-pair.ts'

const rollback = { action: 'rollback' } as const

/** A thread whose one run has written `one`. */
async function written(): Promise<ThreadHouse> {
  const house = new ThreadHouse()
  await house.runOnce('x', 'one')
  return house
}

const valuesOf = async ({ client }: ThreadHouse) => (await client.get('t', 'x')).values

describe('a rollback', () => {
  it('of a queued run takes back nothing that others wrote', async () => {
    const house = await written()
    await house.startRun('x')
    await house.host.step(house.host.only, 'two')
    const waits = house.run()
    await house.client.startRun('t', 'x', waits)
    await house.client.cancelRun('t', 'x', waits.runId, rollback)
    house.host.end(house.host.only)
    expect(await valuesOf(house)).toBe('{"log":["two","one"]}')
  })

  it('of a run that was resumed goes back to before its first attempt', async () => {
    const house = await written()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    await house.host.step(house.host.only, 'two')
    house.host.lose(house.host.only, 'crashed')
    await settled()
    await house.host.step(house.host.only, 'three')
    await house.client.cancelRun('t', 'x', run.runId, rollback)
    expect(await valuesOf(house)).toBe('{"log":["one"]}')
  })

  it('is refused for a run that would begin from a checkpoint that it drops', async () => {
    const house = await written()
    const before = (await house.client.get('t', 'x')).row.head!.id
    await house.startRun('x')
    await house.host.step(house.host.only, 'two')
    const { headId: dropped } = house.host.only
    const from = (checkpoint_id: string) =>
      house.startRun('x', { strategy: 'rollback',
        kwargs: { input: {}, checkpoint: { checkpoint_id } } })
    await expect(from(dropped!)).rejects.toMatchObject({ code: 'not_found' })
    expect(house.host.only.headId).toBe(dropped)
    await from(before)
    expect(house.host.only.headId).toBe(before)
  })
})

describe('a run that is cut short', () => {
  it('at its time limit is stopped', async () => {
    const house = await written()
    const run = house.run({ plan: { ...house.run().plan, timeoutMs: 5_000 } })
    await house.client.startRun('t', 'x', run)
    expect(house.host.running.size).toBe(1)
    house.env.advance(5_000)
    await settled()
    expect(house.host.running.size).toBe(0)
    expect((await house.client.getRun('t', 'x', run.runId)).status).toBe('timeout')
  })

  it('leaves no timer behind, cut or ended', async () => {
    const house = await written()
    house.restart()
    await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 1, offset: 0 })
    const timers = house.env.timers()
    await house.startRun('x')
    await settled()
    house.host.end(house.host.only)
    await settled()
    const run = house.run()
    await house.client.startRun('t', 'x', run)
    await house.client.cancelRun('t', 'x', run.runId, { action: 'interrupt' })
    expect(house.env.timers()).toBe(timers)
  })

  it('while the state for its start is read never begins', async () => {
    const house = await written()
    house.restart()
    const gate = Promise.withResolvers<void>()
    const run = house.run()
    // This loads the thread, but not its state.
    await house.client.listRuns({ tenant: 't', threadId: 'x', limit: 1, offset: 0 })
    const read = house.log.read.bind(house.log)
    house.log.read = (branch, range) => gate.promise.then(() => read(branch, range))
    await house.client.startRun('t', 'x', run)
    const cancelled = house.client.cancelRun('t', 'x', run.runId, { action: 'interrupt' })
    await settled()
    house.env.advance(3_000)
    await cancelled
    gate.resolve()
    await settled()
    expect(house.host.executions).toEqual([])
  })

  it('by the loss of its worker while its thread moves continues at the new owner', async () => {
    const pair = new ThreadPair()
    await pair.client.startRun('t', 'x', aRun('r'))
    const { host } = pair
    const moved = pair.handOver()
    await settled()
    host.lose(host.only, 'displaced')
    await moved
    await settled()
    expect(host.executions).toHaveLength(1)
    expect(pair.host.only.execution).toMatchObject({ runId: 'r', attempt: 1 })
  })
})

it('A run or an edit does not begin from a checkpoint that is not there.', async () => {
  const house = await written()
  const gone = { checkpointId: 'gone', checkpointNs: '', checkpointMap: null }
  const update = { values: '{}', command: null, asNode: null }
  await expect(house.client.updateState('t', 'x', { update, checkpoint: gone }))
    .rejects.toMatchObject({ code: 'not_found' })
  await expect(house.startRun('x', { kwargs: { checkpoint: { checkpoint_id: 'gone' } } }))
    .rejects.toMatchObject({ code: 'not_found' })
  expect(house.host.running.size).toBe(0)
})

describe('an execution', () => {
  it('reads what it wrote itself, which is still on its way to the log', async () => {
    const house = await written()
    await house.startRun('x')
    const { only } = house.host
    const disk = Promise.withResolvers<void>()
    house.log.gate = disk.promise
    void house.host.step(only, 'two')
    const page = { ns: '', checkpointId: null, before: null, limit: 1, filter: null }
    const read = Promise.all([only.source.tuple('', null), only.source.list(page)])
    await settled()
    disk.resolve()
    const [newest, [listed]] = await read
    expect([newest?.id, listed?.id]).toEqual([only.headId, only.headId])
  })

  it('that was begun with the head reads what it has written since', async () => {
    const house = await written()
    house.restart()
    await house.startRun('x')
    await settled()
    const { only } = house.host
    await house.host.step(only, 'two')
    expect((await only.source.tuple('', null))?.id).toBe(only.headId)
  })

  it('continues from what the one before wrote, as soon as that is on disk', async () => {
    const house = await written()
    await house.startRun('x')
    const { only } = house.host
    const disk = Promise.withResolvers<void>()
    house.log.gate = disk.promise
    void house.host.step(only, 'two', [updates('2')]).catch(() => {})
    house.host.lose(only, 'displaced')
    await settled()
    expect(house.host.running.size).toBe(0)
    disk.resolve()
    await settled()
    expect(house.host.only.execution).toMatchObject({ headId: only.headId,
      request: { input: 'null', emitted: [{ json: '2' }] } })
  })
})

describe('a delayed run', () => {
  const days = (count: number) => count * 86_400_000

  it('begins when its time comes, not before, the earliest first', async () => {
    const house = new ThreadHouse()
    const [late, soon] = [house.run({ afterMs: 2_000 }), house.run({ afterMs: 1_000 })]
    for (const run of [late, soon]) await house.client.startRun('t', 'x', run)
    house.env.advance(999)
    await settled()
    expect(house.host.executions).toEqual([])
    house.env.advance(1)
    await settled()
    expect(house.host.only.execution.runId).toBe(soon.runId)
  })

  it('begins in time even if its delay is longer than a timer can wait', async () => {
    const house = new ThreadHouse()
    const { after } = house.env
    const waits: number[] = []
    house.env.after = (ms, fn) => {
      waits.push(ms)
      return after(ms, fn)
    }
    await house.startRun('x', { afterMs: days(40) })
    for (const count of [39, 1]) {
      expect(house.host.executions).toEqual([])
      house.env.advance(days(count))
      await settled()
    }
    expect(house.host.executions).toHaveLength(1)
    // A longer timer would fire at once.
    expect(Math.max(...waits)).toBeLessThan(2 ** 31)
  })

  it('does not begin before one that had begun and was handed back', async () => {
    const house = new ThreadHouse()
    await house.startRun('x', { afterMs: 1_000 })
    const begun = house.run()
    await house.client.startRun('t', 'x', begun)
    await house.host.step(house.host.only, 'one')
    house.host.end(house.host.only, { status: 'drained' })
    house.env.advance(1_000)
    await settled()
    house.restart()
    await house.client.get('t', 'x')
    await settled()
    expect(house.host.only.execution).toMatchObject({ runId: begun.runId, attempt: 1 })
  })
})
