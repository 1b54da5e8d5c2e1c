/** Readers of one run in one member: they share one follow of the run's owner. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { fanOut } from '../../../../cluster/index.ts'
import type { Transport } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../../src/errors.ts'
import { threadWire } from '../../../../src/thread/feed/feed-wire.ts'
import type { FeedEvent, FeedListener } from '../../../../src/thread/index.ts'
import type { FollowRequest } from '../../../../src/thread/model/command.ts'
import { isAfter, placeOf } from '../../../../src/thread/model/event-position.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const owner = { id: 'owner', address: 'owner:1' }
const key = { kind: 'thread', tenant: 'local', id: 't' }
const eventAt = (seq: number, name = 'updates'): FeedEvent => ({ id: `${seq}.0`, name,
  json: `{"seq":${seq}}` })

/** Whether a reader is to see the event. */
function isWanted({ id, name }: FeedEvent, { after, modes }: FollowRequest['follow']): boolean {
  return isAfter(placeOf(id), placeOf(after)) && (modes === null || modes.includes(name))
}

/** An owner in another member, and the follows that it was asked for. */
function farOwner() {
  const past: FeedEvent[] = []
  const follows = new Set<FeedListener>()
  const asked: FollowRequest['follow'][] = []
  const transport: Transport = {
    deliver: async () => undefined,
    follow: async (_to, _key, request, listener) => {
      const { follow } = request as FollowRequest
      asked.push(follow)
      const reader: FeedListener = {
        events: (batch) => {
          const events = batch.filter((event) => isWanted(event, follow))
          if (events.length > 0) (listener as FeedListener).events(events)
        },
        ended: (how) => (listener as FeedListener).ended(how),
      }
      reader.events(past)
      follows.add(reader)
      return () => void follows.delete(reader)
    },
  }
  return {
    asked,
    follows,
    transport: fanOut(transport, [{ name: 'thread', wire: threadWire }]),
    notify: (...events: FeedEvent[]) => {
      past.push(...events)
      for (const follow of follows) follow.events(events)
    },
    end: (how: 'over' | 'lost' | 'lagged') => {
      for (const each of follows) each.ended(how)
    },
  }
}

async function reader({ transport }: ReturnType<typeof farOwner>, after: string | null = null,
  modes: readonly string[] | null = null) {
  const seen: FeedEvent[] = []
  const ends: string[] = []
  const listener: FeedListener = {
    events: (batch) => void seen.push(...batch),
    ended: (how) => void ends.push(how),
  }
  const request: FollowRequest = { runId: 'r', follow: { after, modes } }
  const stop = await transport.follow(owner, key, request, listener)
  return { seen, ends, stop }
}

describe('readers of one run', () => {
  it('see what each would see alone, whenever it comes and whatever it asks for', async () => {
    const joins = fc.array(fc.record({
      at: fc.nat({ max: 12 }),
      after: fc.option(fc.nat({ max: 12 })),
      modes: fc.constantFrom(null, ['updates'], ['values']),
    }), { maxLength: 8 })
    await expectAlways(fc.asyncProperty(joins, async (plans) => {
      const far = farOwner()
      const events = Array.from({ length: 12 },
        (_, seq) => eventAt(seq, seq % 3 === 0 ? 'values' : 'updates'))
      const readers: { follow: FollowRequest['follow']; seen: FeedEvent[]; ends: string[] }[] = []
      for (let at = 0; at <= 12; at++) {
        for (const plan of plans.filter((each) => each.at === at)) {
          const after = plan.after === null ? null : `${plan.after}.0`
          const follow = { after, modes: plan.modes }
          readers.push({ follow, ...await reader(far, after, plan.modes) })
        }
        if (at < 12) far.notify(events[at]!)
      }
      far.end('over')
      for (const { follow, seen, ends } of readers) {
        expect(seen).toEqual(events.filter((event) => isWanted(event, follow)))
        expect(ends).toEqual(['over'])
      }
    }))
  })

  it('share one follow, which ends when the last reader stops', async () => {
    const far = farOwner()
    const readers = await Promise.all([reader(far), reader(far, null, ['values']), reader(far)])
    far.notify(eventAt(1))
    expect(far.asked).toEqual([{ after: null, modes: null }])
    for (const { stop } of readers) {
      expect(far.follows.size).toBe(1)
      stop()
      stop()
    }
    await Promise.resolve()
    expect(far.follows.size).toBe(0)
    await reader(far)
    expect(far.asked).toHaveLength(2)
  })

  it('continue if one stops twice, or stops a follow that was lost long ago', async () => {
    const far = farOwner()
    const [lost, gone] = [await reader(far), await reader(far)]
    far.end('lost')
    far.follows.clear()
    const stays = await reader(far)
    const stops = await reader(far)
    for (const { stop } of [stops, stops, lost, gone]) stop()
    await reader(far)
    expect(far.asked).toHaveLength(2)
    far.notify(eventAt(1))
    expect(stays.seen).toEqual([eventAt(1)])
    expect(far.follows.size).toBe(1)
  })

  it('are lost together, and come back with a new follow', async () => {
    for (const how of ['lost', 'lagged'] as const) {
      const far = farOwner()
      const readers = [await reader(far), await reader(far)]
      far.end(how)
      expect(readers.map(({ ends }) => ends)).toEqual([['lost'], ['lost']])
      await reader(far, '1.0')
      expect(far.asked).toHaveLength(2)
    }
  })

  it('get a follow of their own if they ask for events that are not kept here', async () => {
    const far = farOwner()
    far.notify(eventAt(1), eventAt(2))
    await reader(far, '1.0')
    const { seen } = await reader(far)
    expect(seen.map(({ id }) => id)).toEqual(['1.0', '2.0'])
    expect(far.asked).toHaveLength(2)
  })

  it('are all refused if the owner refuses, and may try again', async () => {
    let tries = 0
    const refusing = fanOut({
      deliver: async () => undefined,
      follow: async () => {
        tries++
        throw new HeddleError('not_found')
      },
    }, [{ name: 'thread', wire: threadWire }])
    const far = { ...farOwner(), transport: refusing }
    const answers = await Promise.allSettled([reader(far), reader(far)])
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    expect(tries).toBe(1)
    await expect(reader(far)).rejects.toMatchObject({ code: 'not_found' })
    expect(tries).toBe(2)
  })
})
