/** A run's feed and the readers of its past: in pieces, at each reader's own pace. */

import { describe, expect, it } from 'vitest'

import { ByteBudget } from '../../../../cluster/index.ts'
import { ReadQuota } from '../../../../src/limits/read-quota.ts'
import { RunFeeds } from '../../../../src/thread/execution/run-feeds.ts'
import { EventStream } from '../../../../src/thread/feed/event-stream.ts'
import type { FeedPast } from '../../../../src/thread/feed/event-stream.ts'
import type { FeedEntry } from '../../../../src/thread/model/feed-entry.ts'
import type { FeedListener } from '../../../../src/thread/index.ts'
import { virtualEnv } from '../../../support/env.ts'

const entryAt = (seq: number, json?: string): FeedEntry => ({ place: { seq, index: 0 },
  name: 'values', json, valuesOf: json === undefined ? `${seq}` : '' })

/** A finished run: all of its events are in the log, each with the same long value. */
function overFeed(events: number, { value = 'x'.repeat(100_000), fails = false } = {}) {
  const feed = new EventStream({ graphId: 'g', endSeen: () => {},
    forgotten: { seq: Number.MAX_SAFE_INTEGER, index: 0 } })
  const past: FeedPast = {
    async *read() {
      for (let seq = 1; seq <= events; seq++) yield entryAt(seq)
      if (fails) throw new Error('the store is away')
    },
    values: async () => value,
  }
  return { feed, past }
}

/** Counts the events of each piece; `ended` resolves with how the follow ended. */
function reader() {
  const pieces: number[] = []
  const ended = Promise.withResolvers<string>()
  const listener: FeedListener = {
    events: (batch) => void pieces.push(batch.length),
    ended: (how) => ended.resolve(how),
  }
  return { pieces, ended: ended.promise, listener }
}

const fromStart = { seq: -1, index: 0 }

describe('the past of a run', () => {
  it('is sent in pieces of bounded length, and then the end', async () => {
    const { feed, past } = overFeed(30)
    const { pieces, ended, listener } = reader()
    feed.end()
    feed.follow(fromStart, null, listener, past)
    expect(await ended).toBe('over')
    expect(pieces).toEqual(Array.from({ length: 10 }, () => 3))
  })

  it('waits for its reader between pieces', async () => {
    const { feed, past } = overFeed(9)
    const { pieces, ended, listener } = reader()
    const asked: (() => void)[] = []
    let endSeen = Promise.withResolvers<void>()
    feed.end()
    feed.follow(fromStart, null, { ...listener, ready: () => {
      endSeen.resolve()
      return new Promise((ready) => asked.push(ready))
    } }, past)
    for (const expected of [1, 2, 3]) {
      await endSeen.promise
      expect(pieces).toHaveLength(expected)
      endSeen = Promise.withResolvers()
      asked.shift()!()
    }
    expect(await ended).toBe('over')
  })

  it('waits for its reader between pieces of what is remembered, too', async () => {
    const feed = new EventStream({ graphId: 'g', endSeen: () => {} })
    const json = 'x'.repeat(100_000)
    feed.publish(Array.from({ length: 9 }, (_, seq) => entryAt(seq, json)))
    const { pieces, ended, listener } = reader()
    const ready = Promise.withResolvers<void>()
    feed.follow(fromStart, null, { ...listener, ready: () => ready.promise }, overFeed(0).past)
    await new Promise((resolve) => setImmediate(resolve))
    expect(pieces).toEqual([3])
    feed.publish([entryAt(9, json)])
    feed.end()
    ready.resolve()
    expect(await ended).toBe('over')
    expect(pieces).toEqual([3, 3, 3, 1])
  })

  it('ends the follow as unread if it cannot be read', async () => {
    const { feed, past } = overFeed(2, { fails: true })
    const { ended, listener } = reader()
    feed.follow(fromStart, null, listener, past)
    expect(await ended).toBe('unread')
  })

  it.each([
    ['long events', Array.from({ length: 30 }, (_, n) => [entryAt(10 + n, 'y'.repeat(100_000))])],
    ['many events', [Array.from({ length: 200_000 }, (_, n) => entryAt(10 + n, '{}'))]],
  ])('ends a slow reader as lagged if %s come meanwhile', async (_, published) => {
    const { feed, past } = overFeed(9)
    const { pieces, ended, listener } = reader()
    const asked = Promise.withResolvers<void>()
    feed.follow(fromStart, null, { ...listener, ready: () => {
      asked.resolve()
      return new Promise(() => {})
    } }, past)
    await asked.promise
    for (const entries of published) feed.publish(entries)
    expect(await ended).toBe('lagged')
    expect(pieces).toEqual([3])
    expect(feed.followed).toBe(false)
  })
})

describe('a feed', () => {
  /** A feed, and the log of all that was published in it. */
  function longFeed(events: number, json: string) {
    const feed = new EventStream({ graphId: 'g', endSeen: () => {} })
    const all = Array.from({ length: events }, (_, seq) => entryAt(seq, json))
    feed.publish(all)
    feed.end()
    const past: FeedPast = {
      async *read(after, through) {
        yield* all.slice(after.seq + 1, through.seq + 1)
      },
      values: async () => '{}',
    }
    return { feed, past }
  }

  it.each([['many', 10_000, '{}'], ['long', 100, 'x'.repeat(100_000)]])(
    'remembers a part of %s events; followers get the rest from the log, each event once',
    async (_, ...of) => {
      const { feed, past } = longFeed(...of)
      const remembered = of[0] - 1 - feed.forgotten.seq
      expect(remembered).toBeGreaterThan(9)
      expect(remembered).toBeLessThanOrEqual(4_000)
      expect(feed.bytes).toBeLessThanOrEqual(2 * 1024 * 1024)
      for (const seq of [-1, 40, of[0] - 5]) {
        const ids: string[] = []
        await new Promise((ended) =>
          feed.follow({ seq, index: 0 }, null, {
            events: (batch) => void ids.push(...batch.map(({ id }) => id)),
            ended: ended,
          }, past)
        )
        expect(ids).toEqual(Array.from({ length: of[0] - 1 - seq }, (_, n) => `${seq + 1 + n}.0`))
      }
    },
  )

  it('sends each follower the modes it wants, and metadata and errors to all', () => {
    const { feed, past } = overFeed(0)
    const names: string[] = []
    feed.follow({ seq: Number.MAX_SAFE_INTEGER, index: 0 }, ['updates'], {
      events: (batch) => void names.push(...batch.map(({ name }) => name)),
      ended: () => {},
    }, past)
    feed.publish(
      ['metadata', 'values', 'updates|sub', 'messages', 'error'].map((name, seq) => ({
        ...entryAt(seq, '{}'),
        name,
      })),
    )
    expect(names).toEqual(['metadata', 'updates|sub', 'error'])
  })

  it('sends nothing to a follower that stopped; `taken` waits for one that catches up',
    async () => {
      const { feed, past } = overFeed(9)
      const { pieces, listener } = reader()
      const ready = Promise.withResolvers<void>()
      const asked = Promise.withResolvers<void>()
      const stop = feed.follow(fromStart, null, { ...listener, ready: () => {
        asked.resolve()
        return ready.promise
      } }, past)
      await asked.promise
      stop()
      ready.resolve()
      const value = Promise.withResolvers<string>()
      feed.follow(fromStart, null, reader().listener, { ...past, values: () => value.promise })
      let taken = false
      const taking = feed.taken().then(() => {
        taken = true
      })
      await new Promise((resolve) => setImmediate(resolve))
      expect([pieces, taken]).toEqual([[3], false])
      value.resolve('{}')
      await taking
    })
})

describe('a listener that fails', () => {
  it('ends as lost, and does not disturb the others', () => {
    const feed = new EventStream({ graphId: 'g', endSeen: () => {} })
    const { past } = overFeed(0)
    const good = reader()
    const ends: string[] = []
    feed.follow(fromStart, null, {
      events: () => {
        throw new Error('broken')
      },
      ended: (how) => void ends.push(how),
    }, past)
    feed.follow(fromStart, null, good.listener, past)
    feed.publish([entryAt(1, '{}')])
    expect(good.pieces).toEqual([1])
    expect(ends).toEqual(['lost'])
  })
})

describe('the feeds of a thread', () => {
  /** Feeds with a budget that shows what it holds. */
  function counted() {
    const held = new Set<EventStream>()
    const budget = { hold: (feed: EventStream) => void held.add(feed),
      release: (feed: EventStream) => void held.delete(feed) }
    const feeds = new RunFeeds({ ports: { feeds: budget } } as never, () => {})
    const plan = { graphId: 'g' } as never
    const begin = (awaited: boolean) => feeds.begin('r', { awaited, plan })
    return { held, feeds, begin }
  }
  const written = Promise.resolve()
  const over = { runId: 'r', status: 'success', lastSeq: 1 }

  it('keep a finished one if clients know its run, until the thread is released', async () => {
    const { held, feeds, begin } = counted()
    begin(false)
    feeds.end(over, written)
    await written
    expect([feeds.has('r'), held.size]).toEqual([true, 1])
    feeds.loseAll()
    expect(held.size).toBe(0)
    begin(true)
    feeds.end(over, written)
    await written
    expect([feeds.has('r'), held.size]).toEqual([false, 0])
    begin(false)
    feeds.end(over, written)
    feeds.loseAll()
    await written
    expect(held.size).toBe(0)
  })

  it('are lost with a thread whose delete fails', async () => {
    const { feeds, begin } = counted()
    begin(false)
    const { ended, listener } = reader()
    feeds.follow('r', undefined, { after: null, modes: null }, listener)
    feeds.endAll(1, Promise.reject(new Error('the disk is away')))
    expect(await ended).toBe('lost')
  })

  it('count a feed as followed even if the budget drops it while a client reads it', async () => {
    const budget = new ByteBudget<EventStream>(10_000)
    const feeds = new RunFeeds({
      tenant: 'acme',
      ports: { feeds: budget, host: { describe: () => undefined },
        reads: new ReadQuota(virtualEnv()) },
      threadLog: { values: async () => '{}', recentView: () => undefined },
    } as never, () => {})
    const written = Promise.resolve()
    feeds.begin('r', { awaited: false, plan: { graphId: 'g' } as never })
    feeds.publish('r', written, [entryAt(1)])
    await written
    const { ended, listener } = reader()
    const asked = Promise.withResolvers<void>()
    const read = Promise.withResolvers<void>()
    feeds.follow('r', undefined, { after: null, modes: null }, { ...listener, ready: () => {
      asked.resolve()
      return read.promise
    } })
    await asked.promise
    feeds.end(over, written)
    await written
    budget.hold(new EventStream({ graphId: 'g', endSeen: () => {} }), 10_000, () => {})
    expect([feeds.has('r'), feeds.followed]).toEqual([false, true])
    read.resolve()
    expect(await ended).toBe('over')
    expect(feeds.followed).toBe(false)
  })

  it('end a follow as unread if a state is longer than a string can be', async () => {
    const tooLong = () => {
      throw new RangeError('Invalid string length')
    }
    const feeds = new RunFeeds({
      ports: { host: { describe: () => ({ stateChannels: ['log'] }) } },
      threadLog: { values: async () => tooLong(), recentView: () => ({ json: tooLong }) },
    } as never, () => {})
    const { ended, listener } = reader()
    feeds.begin('r', { awaited: false, plan: { graphId: 'g' } as never })
    feeds.follow('r', undefined, { after: null, modes: null }, listener)
    feeds.publish('r', Promise.resolve(), [entryAt(1)])
    expect(await ended).toBe('unread')
  })
})
