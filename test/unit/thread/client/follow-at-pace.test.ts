/** A follow whose listener takes no more: what comes waits, up to a bound, and nothing is lost. */

import { describe, expect, it } from 'vitest'

import type { FeedEnd, FeedEvent, FeedListener } from '../../../../src/thread/index.ts'
import { followAtPace } from '../../../../src/thread/client/follow-at-pace.ts'

const eventOf = (id: number, length = 2): FeedEvent => ({ id: `${id}.0`, name: 'values',
  json: '"'.padEnd(length, 'x') })

/** A listener that the test makes ready, and the far side of its follow. */
async function followed(fails = false) {
  const ids: string[] = []
  const ends: FeedEnd[] = []
  const state = { room: Promise.withResolvers<void>(), full: true, stops: 0 }
  let far: FeedListener | undefined
  const stop = await followAtPace({
    events: (batch) => {
      if (fails) throw new Error('the listener fails')
      ids.push(...batch.map(({ id }) => id))
    },
    ready: () => state.full ? state.room.promise : undefined,
    ended: (how) => void ends.push(how),
  }, async (listener) => {
    far = listener
    return () => void state.stops++
  })
  const drain = async () => {
    state.full = false
    state.room.resolve()
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { far: far!, ids, ends, state, stop, drain }
}

describe('a listener that takes no more', () => {
  it('gets in order what came meanwhile, and then the end', async () => {
    const { far, ids, ends, drain } = await followed()
    for (const id of [1, 2]) far.events([eventOf(id)])
    far.ended('lost')
    far.events([eventOf(3)])
    expect([ids, ends]).toEqual([[], []])
    await drain()
    expect([ids, ends]).toEqual([['1.0', '2.0'], ['lost']])
    expect(far.ready!()).toBeUndefined()
  })

  it('ends the follow as lagged if too much waits, when it has taken that', async () => {
    const { far, ids, ends, state, drain } = await followed()
    for (let id = 0; id < 20; id++) far.events([eventOf(id, 50_000)])
    expect([state.stops, ends]).toEqual([1, []])
    await drain()
    expect(ids).toEqual(['0.0', '1.0', '2.0', '3.0', '4.0', '5.0'])
    expect(ends).toEqual(['lagged'])
  })

  it('gets nothing more once it has stopped', async () => {
    const { far, ids, ends, stop, drain } = await followed()
    far.events([eventOf(1)])
    stop()
    far.ended('over')
    await drain()
    expect([ids, ends]).toEqual([[], []])
  })

  it('that fails ends its own follow as lost', async () => {
    const { far, ends, state, drain } = await followed(true)
    far.events([eventOf(1)])
    await drain()
    expect([ends, state.stops]).toEqual([['lost'], 1])
  })

  it('gets at once what comes while it is ready', async () => {
    const { far, ids, ends, drain } = await followed()
    await drain()
    far.events([eventOf(1, 1_000_000)])
    far.ended('over')
    expect([ids, ends]).toEqual([['1.0'], ['over']])
  })
})
