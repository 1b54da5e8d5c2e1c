/** How commands to threads, their answers and the events of runs cross to another member. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { threadWire } from '../../../../src/thread/feed/feed-wire.ts'
import type { FeedEvent, FeedListener } from '../../../../src/thread/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const { values, listeners } = threadWire

const events = fc.array(fc.record({
  id: fc.string(),
  name: fc.string(),
  json: fc.json(),
}))

/** What a listener in another member gets if `play` tells the local one. */
function endSeen(play: (listener: FeedListener) => void) {
  const listener_: FeedEvent[] = []
  const ends: string[] = []
  const calls: Uint8Array[] = []
  const far: FeedListener = {
    events: (batch) => void listener_.push(...batch),
    ended: (how) => void ends.push(how),
  }
  play(listeners!.sender((call, last) => {
    calls.push(call)
    listeners!.notify(far, call)
    expect(ends.length === 1).toBe(last)
  }) as FeedListener)
  return { listener_, ends, calls }
}

describe('the events of a run', () => {
  it('reach a listener in another member unchanged and in order', () => {
    expectAlways(fc.property(fc.array(events), (batches) => {
      const { listener_, ends } = endSeen((listener) => {
        for (const batch of batches) listener.events(batch)
        listener.ended('over')
      })
      expect(listener_).toEqual(batches.flat())
      expect(ends).toEqual(['over'])
    }))
  })

  it('are split into several calls if they are many', () => {
    const json = JSON.stringify('x'.repeat(1_000))
    const batch = Array.from({ length: 1_000 }, (_, id) => ({ id: `${id}`, name: 'values', json }))
    const { listener_, calls } = endSeen((listener) => listener.events(batch))
    expect(listener_).toEqual(batch)
    expect(calls.length).toBeGreaterThan(2)
    expect(Math.max(...calls.map(({ length }) => length))).toBeLessThan(512 * 1024)
  })

  it('end as lost or lagged if the connection says so', () => {
    const ends: string[] = []
    const listener: FeedListener = { events: () => {}, ended: (how) => void ends.push(how) }
    for (const how of ['lost', 'lagged'] as const) listeners!.end(listener, how)
    expect(ends).toEqual(['lost', 'lagged'])
  })
})

describe('commands and answers', () => {
  it('are decoded as they were encoded', () => {
    const text = fc.string({ unit: 'grapheme' })
    const row = fc.record({ tenant: text, seq: fc.maxSafeNat(), hidden: fc.boolean(),
      head: fc.option(fc.record({ id: text, seq: fc.nat() }), { nil: undefined }) })
    const command = fc.oneof(
      fc.record({ type: fc.constant('patch'), metadata: fc.dictionary(text, fc.jsonValue()) }),
      fc.record({ row, values: fc.json() }),
      fc.json(),
      fc.array(row),
      fc.constant(undefined),
    )
    expectAlways(fc.property(command, (value) => {
      const crossed = values.decode(values.encode(value))
      expect(crossed).toEqual(value === undefined ? undefined : normal(value))
    }))
  })
})

/** JSON has no negative zero, and no property that is undefined. */
function normal(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value))
}
