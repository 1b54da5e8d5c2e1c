/** What the page of the cluster knows after each event. */

import { describe, expect, it } from 'vitest'

import type { Cluster, ClusterEvent } from '../../../src/studio/api/cluster.ts'
import { afterEvent, ownerless } from '../../../src/studio/cluster/cluster-state.ts'
import type { ClusterState } from '../../../src/studio/cluster/cluster-state.ts'

const now = '2026-01-01T00:00:00.000Z'
const figures = { version: '1', started_at: now, actors: 1, runs: 0, load: 0 }
const member = (id: string, state: Cluster['members'][number]['state'] = 'serving') => ({ id, state,
  address: `at ${id}`, self: id === 'aaaaaaaa-1', shards: 0, ...figures })
const [a, b, c] = ['aaaaaaaa-1', 'bbbbbbbb-2', 'cccccccc-3'] as const

const snapshot = (members: Cluster['members'],
  owners: readonly (number | null)[]): ClusterEvent => ({ name: 'cluster',
    value: { members, shards: { count: owners.length, owners }, region: null, embedded: false } })

const after = (...events: readonly ClusterEvent[]) =>
  events.reduce<ClusterState | undefined>((state, event) => afterEvent(state, event, now),
    undefined)!

const first = snapshot([member(a), member(b)], [0, 1, 1, null])
const textsIn = ({ story }: ClusterState) => story.map(({ text }) => text)

describe('the cluster', () => {
  it('is nothing before the first snapshot', () => {
    expect(afterEvent(undefined, { name: 'load', value: { members: [] } }, now)).toBeUndefined()
  })

  it('is what the snapshot has, and no story', () => {
    const state = after(first)
    expect(state.owners).toEqual([a, b, b, null])
    expect(state.members.map(({ id, shards }) => [id, shards])).toEqual([[a, 1], [b, 2]])
    expect(ownerless(state)).toBe(1)
    expect(state.story).toEqual([])
  })

  it('follows members and shards', () => {
    const state = after(first, { name: 'joined', value: { ...member(c, 'joining'), at: now } }, {
      name: 'draining',
      value: { ...member(b, 'draining'), at: now },
    }, { name: 'moved', value: { from: b, to: c, shards: [1], at: now } }, { name: 'moved',
      value: { from: b, to: null, shards: [2], at: now } }, { name: 'gone',
      value: { ...member(b, 'gone'), at: now } })
    expect(state.members.map(({ id, state: is, shards }) => [id, is, shards]))
      .toEqual([[a, 'serving', 1], [b, 'gone', 0], [c, 'serving', 1]])
    expect(state.owners).toEqual([a, c, null, null])
    expect([...state.moves]).toEqual([[1, 1], [2, 1]])
    expect(textsIn(state)).toEqual(['bbbbbbbb is gone', '1 shard: bbbbbbbb → nobody',
      '1 shard: bbbbbbbb → cccccccc', 'bbbbbbbb gives its shards back',
      'cccccccc joined at at cccccccc-3'])
  })

  it('takes the figures that members send', () => {
    const state = after(first, { name: 'load',
      value: { members: [{ ...figures, id: b, runs: 7, load: 0.5 }] } })
    expect(state.members.map(({ runs, load }) => [runs, load])).toEqual([[0, 0], [7, 0.5]])
  })

  it('says what it missed while the connection was away, and keeps colours', () => {
    const state = after(first, snapshot([member(c), member(b, 'gone'), member(a)], [0, 2, 2, 2]))
    expect(textsIn(state).toSorted()).toEqual(['bbbbbbbb is gone',
      'cccccccc joined at at cccccccc-3'])
    expect(state.members.map(({ id, colour, shards }) => [id, colour, shards]))
      .toEqual([[a, 0, 3], [b, 1, 0], [c, 2, 1]])
  })

  it('keeps the newest lines only', () => {
    const move: ClusterEvent = { name: 'moved', value: { from: a, to: b, shards: [0], at: now } }
    const { story } = after(first, ...Array.from({ length: 300 }, () => move))
    expect(story).toHaveLength(200)
    expect(new Set(story.map(({ key }) => key)).size).toBe(200)
  })

  it('uses a colour again only when each is used', () => {
    const many = Array.from({ length: 8 }, (_, at) => member(`${at}`.repeat(8)))
    expect(after(snapshot(many, [])).members.map(({ colour }) => colour))
      .toEqual([0, 1, 2, 3, 4, 5, 0, 1])
  })
})
