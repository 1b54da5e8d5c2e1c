/** The subscriptions of one socket: each gets the past and then all that comes, without a gap. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { Subscriptions } from '../../../../src/frontdoor/protocol-v2/subscriptions.ts'
import type { ThreadEvent, ThreadEventListener } from '../../../../src/thread/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'
import { threadEvent } from '../fake-threads.ts'

/** A thread whose follows get their events when the test says so. */
class SlowThread {
  readonly events: ThreadEvent[] = []
  readonly follows: { seq: number; readonly listener: ThreadEventListener }[] = []

  follow(afterSeq: number | null, listener: ThreadEventListener): () => void {
    const follow = { seq: afterSeq ?? -1, listener }
    this.follows.push(follow)
    return () => {
      if (this.follows.includes(follow)) this.follows.splice(this.follows.indexOf(follow), 1)
    }
  }

  /** Delivers up to so many events to one follow. */
  advance(index: number, count: number): void {
    const follow = this.follows[index]
    if (follow === undefined) return
    const batch = this.events.filter(({ seq }) => seq > follow.seq).slice(0, count)
    if (batch.length === 0) return
    follow.seq = batch.at(-1)!.seq
    follow.listener.events(batch)
  }

  advanceAll(): void {
    for (let round = 0; round < 3; round++) {
      for (const { listener } of [...this.follows]) {
        this.advance(this.follows.findIndex((each) => each.listener === listener), Infinity)
      }
    }
  }
}

function open() {
  const thread = new SlowThread()
  const sent: ThreadEvent[] = []
  const state = { lost: 0 }
  const subscriptions = new Subscriptions({
    follow: async (after, listener) => thread.follow(after, listener),
    send: (events) => sent.push(...events),
    ready: () => undefined,
    lost: () => {
      state.lost++
    },
  })
  return { thread, sent, subscriptions, state }
}

const channelOf = (seq: number) => seq % 3 === 0 ? 'values' : 'updates'
const eventAt = (seq: number) => threadEvent(seq, { method: channelOf(seq) })

const move = fc.oneof(
  fc.record({ kind: fc.constant('event' as const) }),
  fc.record({ kind: fc.constant('advance' as const), index: fc.nat(4), count: fc.nat(5) }),
  fc.record({ kind: fc.constant('subscribe' as const),
    channels: fc.subarray(['values', 'updates'], { minLength: 1 }),
    since: fc.option(fc.nat(20), { nil: undefined }) }),
  fc.record({ kind: fc.constant('begin' as const) }),
  fc.record({ kind: fc.constant('unsubscribe' as const), index: fc.nat(4) }),
)

describe('subscriptions', () => {
  it('each get all that passes, in order, and in the end follow together', async () => {
    await expectAlways(fc.asyncProperty(fc.array(move, { maxLength: 40 }), async (moves) => {
      const { thread, sent, subscriptions, state } = open()
      const begin = async () => {
        subscriptions.begin()
        // A follow that could not be joined after all begins in a turn of its own.
        await Promise.resolve()
      }
      const held = new Map<string, { from: number; channels: string[]; since: number }>()
      for (const [at, each] of moves.entries()) {
        if (each.kind === 'event') thread.events.push(eventAt(thread.events.length * 2))
        if (each.kind === 'advance') thread.advance(each.index, each.count)
        if (each.kind === 'unsubscribe') {
          const id = [...held.keys()][each.index]
          if (id === undefined) continue
          subscriptions.remove(id)
          held.delete(id)
        }
        if (each.kind === 'begin') await begin()
        if (each.kind !== 'subscribe') continue
        const { channels, since } = each
        await subscriptions.add(String(at), { channels, since })
        held.set(String(at), { from: sent.length, channels, since: since ?? -1 })
      }
      await begin()
      thread.advanceAll()
      for (const { from, channels, since } of held.values()) {
        const wanted = thread.events
          .filter(({ method, seq }) => channels.includes(method) && seq > since)
          .map(({ seq }) => seq)
        const got = sent.slice(from).map(({ seq }) => seq).filter((seq) => wanted.includes(seq))
        expect([...new Set(got)].toSorted((a, b) => a - b)).toEqual(wanted)
      }
      // Follows that have nothing yet, from different places, are at one place after this event.
      thread.events.push(eventAt(999))
      thread.advanceAll()
      const before = sent.length
      thread.events.push(eventAt(1_000), eventAt(1_001))
      thread.advanceAll()
      const passing = [1_000, 1_001].filter((seq) =>
        [...held.values()].some(({ channels }) => channels.includes(channelOf(seq)))
      )
      expect(sent.slice(before).map(({ seq }) => seq)).toEqual(passing)
      expect(thread.follows.length).toBe(held.size > 0 ? 1 : 0)
      expect(state.lost).toBe(0)
    }))
  })

  it('send nothing before the client has its answer', async () => {
    const { thread, sent, subscriptions } = open()
    thread.events.push(eventAt(0))
    await subscriptions.add('a', { channels: ['values'] })
    thread.advanceAll()
    expect(sent).toEqual([])
    subscriptions.begin()
    expect(sent).toHaveLength(1)
  })

  it('that begin together get one past, in its order', async () => {
    const { thread, sent, subscriptions } = open()
    for (let seq = 0; seq < 6; seq++) thread.events.push(eventAt(seq))
    expect(await subscriptions.add('a', { channels: ['updates'] })).toBe(0)
    thread.advanceAll()
    expect(await subscriptions.add('b', { channels: ['values', 'updates'] })).toBe(6)
    subscriptions.begin()
    expect(sent.map(({ seq }) => seq)).toEqual([0, 1, 2, 3, 4, 5])
    expect(thread.follows).toHaveLength(1)
  })

  it('are bounded in number and length', async () => {
    const { subscriptions } = open()
    for (let n = 0; n < 200; n++) await subscriptions.add(String(n), { channels: ['values'] })
    await expect(subscriptions.add('more', { channels: ['values'] })).rejects.toThrow('200')
    subscriptions.remove('7')
    await subscriptions.add('more', { channels: ['values'] })
    const long = { channels: ['values'], namespaces: [['x'.repeat(150_000)]] }
    subscriptions.remove('8')
    await expect(subscriptions.add('long', long)).rejects.toThrow('128 KB')
  })

  it('that are not known cannot be removed', () => {
    expect(() => open().subscriptions.remove('a')).toThrow('no subscription')
  })

  it('end the socket once if the thread cannot be followed any more', async () => {
    const { thread, subscriptions, state } = open()
    await subscriptions.add('a', { channels: ['values'] })
    subscriptions.begin()
    thread.follows[0]!.listener.ended('gone')
    expect(state.lost).toBe(1)
    subscriptions.close()
    expect(thread.follows).toEqual([])
  })
})
