/** The cluster as people see it: its members, who owns which shard, and what has changed. */

import type { ClusterStatus, Member } from '../../../cluster/index.ts'

/** Report of a member on itself: its version, its start, and its load. */
export interface MemberDetails {
  readonly version: string
  /** The newest version of the tables that it supports; members of earlier builds report none. */
  readonly tables?: number
  readonly startedAtMs: number
  /** Actors in memory. */
  readonly actors: number
  /** Runs that it executes. */
  readonly runs: number
  /** The share of its processors that it used lately, from 0 to 1. */
  readonly load: number
}

/**
 * joining   it owns nothing yet
 * serving   it owns shards, or serves clients only
 * draining  it gives its shards back, and goes
 * gone      it left or died less than a minute ago
 */
export type MemberState = 'joining' | 'serving' | 'draining' | 'gone'

/** A member as one front door sees it. */
export interface SeenMember extends Member {
  readonly state: MemberState
  readonly self: boolean
  readonly shards: number
}

/** The cluster at one moment. */
export interface ClusterView {
  /** By the time when they were seen first; those that are gone come last. */
  readonly members: readonly SeenMember[]
  /** By shard: the id of its owner, or null. */
  readonly owners: readonly (string | null)[]
}

/** Difference between two views: a member joined, left or drains, or shards moved. */
export type ClusterEvent =
  | { readonly name: 'joined' | 'gone' | 'draining'; readonly member: SeenMember }
  /** `from` and `to` are ids; null for nobody. */
  | { readonly name: 'moved'; readonly from: string | null; readonly to: string | null;
    readonly shards: readonly number[] }

/** The view of a status. `gone` are members that are still shown. */
export function viewOf({ member: self, view, leaving, shards: claims }: ClusterStatus,
  shards: number, gone: readonly Member[]): ClusterView {
  const present = [...view, ...leaving]
  const isPresent = new Set(present.map(({ id }) => id))
  const owners: (string | null)[] = Array.from({ length: shards }, () => null)
  for (const { shard, session } of claims) {
    if (session !== null && isPresent.has(session)) owners[shard] = session
  }
  const owned = Map.groupBy(owners, (owner) => owner ?? '')
  const countOf = ({ id }: Member) => owned.get(id)?.length ?? 0
  const seen = (member: Member, state: MemberState): SeenMember => ({ ...member, state,
    self: member.id === self.id, shards: countOf(member) })
  const doors = isPresent.has(self.id) ? [] : [seen(self, 'serving')]
  return {
    members: [...view.map((member) => seen(member, countOf(member) > 0 ? 'serving' : 'joining')),
      ...leaving.map((member) => seen(member, 'draining')), ...doors,
      ...gone.filter(({ id }) => !isPresent.has(id)).map((member) => seen(member, 'gone'))],
    owners,
  }
}

/** Lists the events that happened from one view to the next. */
export function eventsBetween(before: ClusterView, after: ClusterView): readonly ClusterEvent[] {
  const earlier = new Map(before.members.map((member) => [member.id, member]))
  const events: ClusterEvent[] = []
  for (const member of after.members) {
    const { state } = member
    const last = earlier.get(member.id)?.state ?? 'gone'
    if (last === 'gone' && state !== 'gone') events.push({ name: 'joined', member })
    if (last !== 'gone' && state === 'gone') events.push({ name: 'gone', member })
    if (last !== 'draining' && state === 'draining') events.push({ name: 'draining', member })
  }
  return [...events, ...movesBetween(before.owners, after.owners)]
}

function movesBetween(before: ClusterView['owners'],
  after: ClusterView['owners']): readonly ClusterEvent[] {
  const moved = after.flatMap((to, shard) => {
    const from = before[shard] ?? null
    return from === to ? [] : [{ from, to, shard }]
  })
  return [...Map.groupBy(moved, ({ from, to }) => `${from} ${to}`).values()].map((group) => ({
    name: 'moved',
    from: group[0]!.from,
    to: group[0]!.to,
    shards: group.map(({ shard }) => shard),
  }))
}
