/** The cluster as people see it: who is there, who owns what, and what happened. */

import { describe, expect, it } from 'vitest'

import type { ClusterStatus } from '../../../../cluster/index.ts'
import { eventsBetween, viewOf } from '../../../../src/frontdoor/admin/cluster-view.ts'
import { ClusterWatch } from '../../../../src/frontdoor/admin/cluster-watch.ts'
import type { WatchedCluster } from '../../../../src/frontdoor/admin/cluster-watch.ts'
import { virtualEnv } from '../../../support/env.ts'

const [a, b, c] = ['a', 'b', 'c'].map((id) => ({ id, address: `at ${id}` })) as [
  ClusterStatus['member'],
  ClusterStatus['member'],
  ClusterStatus['member'],
]

/** The owners of the shards, as letters; a dash for none. */
const status = (members: readonly (typeof a)[], owners: string, leaving: readonly (typeof a)[] = [],
  member = a): ClusterStatus => ({ member, view: members, leaving,
    shards: [...owners].map((owner, shard) => ({ shard, epoch: 1,
      session: owner === '-' ? null : owner, address: '' })
    ) as ClusterStatus['shards'] })

const statesIn = ({ members }: Pick<WatchedCluster, 'members'>) =>
  members.map(({ id, state, shards }) => `${id} ${state} ${shards}`)

describe('a view', () => {
  it('has members with their states, and no owner that is not there', () => {
    const view = viewOf(status([a, b], 'aac-', [c]), 5, [{ id: 'd', address: '' }])
    expect(view.members.map(({ id, state, shards, self }) => [id, state, shards, self])).toEqual([
      ['a', 'serving', 2, true],
      ['b', 'joining', 0, false],
      ['c', 'draining', 1, false],
      ['d', 'gone', 0, false],
    ])
    expect(view.owners).toEqual(['a', 'a', 'c', null, null])
    expect(viewOf(status([a], 'ab'), 2, []).owners).toEqual(['a', null])
  })

  it('has a member that serves clients only', () => {
    expect(viewOf(status([b], 'bb', [], a), 2, []).members.map(({ id, state }) => [id, state]))
      .toEqual([['b', 'serving'], ['a', 'serving']])
  })

  it('tells what happened since another one', () => {
    const before = viewOf(status([a, b], 'abab'), 4, [])
    const after = viewOf(status([a, c], 'aaca'), 4, [b])
    expect(eventsBetween(before, after)).toMatchObject([
      { name: 'joined', member: { id: 'c' } },
      { name: 'gone', member: { id: 'b' } },
      { name: 'moved', from: 'b', to: 'a', shards: [1, 3] },
      { name: 'moved', from: 'a', to: 'c', shards: [2] },
    ])
    expect(eventsBetween(after, after)).toEqual([])
    const draining = viewOf(status([a], 'abab', [b]), 4, [])
    expect(eventsBetween(before, draining)).toMatchObject([{ name: 'draining',
      member: { id: 'b' } }])
  })
})

describe('a watch', () => {
  const details = { version: '1', startedAtMs: 0, actors: 1, runs: 0, load: 0.5 }
  const watched = (first: ClusterStatus) => {
    const env = virtualEnv()
    const seen = { status: first, asked: 0, looks: 0 }
    const watch = new ClusterWatch(env, {
      embedded: false,
      shards: 4,
      status: () => {
        seen.looks++
        return seen.status
      },
      ask: (member) => {
        seen.asked++
        return member.id === 'b' ? new Promise(() => {}) : Promise.resolve(details)
      },
    })
    return { env, seen, watch }
  }

  it('does nothing while nobody looks', async () => {
    const { env, seen, watch } = watched(status([a], 'aaaa'))
    env.advance(60_000)
    expect([seen.looks, env.timers()]).toEqual([0, 0])
    const stop = watch.follow({ changed: () => {}, loaded: () => {} })
    expect(env.timers()).toBe(1)
    stop()
    expect(env.timers()).toBe(0)
  })

  it('shows a member that does not answer without what it says', async () => {
    const { env, watch, seen } = watched(status([a, b], 'abab'))
    const asked = [watch.now(), watch.now()]
    await new Promise(setImmediate)
    env.advance(500)
    const [{ members }, same] = await Promise.all(asked) as [WatchedCluster, WatchedCluster]
    expect(members.map((member) => member.details)).toEqual([details, undefined])
    expect(same.members).toBe(members)
    expect(seen.asked).toBe(2)
  })

  it('tells of changes, and shows who has gone for a minute', async () => {
    const { env, watch, seen } = watched(status([a, c], 'acac'))
    const events: unknown[] = []
    const stop = watch.follow({ changed: (happened) => events.push(...happened), loaded: () => {} })
    seen.status = status([a], 'aaaa')
    env.advance(250)
    expect(events).toMatchObject([{ name: 'gone', member: { id: 'c' } }, { name: 'moved', from: 'c',
      to: 'a', shards: [1, 3] }])
    expect(statesIn(await watch.now())).toEqual(['a serving 4', 'c gone 0'])
    env.advance(60_500)
    expect(statesIn(await watch.now())).toEqual(['a serving 4'])
    expect(events).toHaveLength(2)
    stop()
  })

  it('tells the load at most once a second', async () => {
    const { env, watch } = watched(status([a], 'aaaa'))
    let loads = 0
    const stop = watch.follow({ changed: () => {}, loaded: () => loads++ })
    for (let tick = 0; tick < 40; tick++) {
      env.advance(250)
      await new Promise(setImmediate)
    }
    expect(loads).toBe(10)
    stop()
  })
})
