/** State of the cluster as its events come: its members, the owners of shards, and a story. */

import type { Cluster, ClusterEvent, ClusterRegion, Member } from '../api/cluster.ts'

/** A member, with the number of its colour. */
export interface ShownMember extends Member {
  readonly colour: number
}

/** A line of what happened. */
export interface StoryLine {
  readonly key: number
  /** ISO text. */
  readonly at: string
  readonly tone: 'plain' | 'joined' | 'gone'
  readonly text: string
}

/** All that the page shows. */
export interface ClusterState {
  /** In the order in which they were seen first. */
  readonly members: readonly ShownMember[]
  /** Ids of owners by shard; null for nobody. */
  readonly owners: readonly (string | null)[]
  /** Number of moves of each shard while the page looked. */
  readonly moves: ReadonlyMap<number, number>
  /** The newest first. */
  readonly story: readonly StoryLine[]
  readonly region: ClusterRegion | null
  readonly embedded: boolean
}

/** Colours that members have; further ones have those of the first again. */
const colours = 6

const storyMax = 200
const unknown = { version: null, started_at: null, actors: null, runs: null, load: null }

/** The first characters of an id, which tell members apart. */
export const shortId = (id: string): string => id.slice(0, 8)

/** The state after an event. `at` is now as an ISO text, for events that carry no time. */
export function afterEvent(state: ClusterState | undefined, event: ClusterEvent, at: string):
  | ClusterState
  | undefined {
  if (event.name === 'cluster') return afterSnapshot(state, event.value, at)
  if (state === undefined) return undefined
  switch (event.name) {
    case 'moved':
      return afterMove(state, event.value)
    case 'load': {
      const figures = new Map(event.value.members.map((member) => [member.id, member]))
      return { ...state,
        members: state.members.map((member) => ({ ...member, ...figures.get(member.id) })) }
    }
    default:
      return afterMember(state, event)
  }
}

/** Number of shards without an owner. */
export const ownerless = ({ owners }: Pick<ClusterState, 'owners'>): number =>
  owners.filter((owner) => owner === null).length

function afterSnapshot(before: ClusterState | undefined,
  { members, shards, region, embedded }: Cluster, at: string): ClusterState {
  const owners = shards.owners.map((index) => index === null ? null : members[index]?.id ?? null)
  const known = before?.members ?? []
  const state: ClusterState = { owners, region, embedded, moves: before?.moves ?? new Map(),
    story: before?.story ?? [], members: withShards(merged(known, members), owners) }
  if (before === undefined) return state
  // Nobody said what happened while the connection was away.
  return members.reduce((next, { id, address, state: now }) => {
    const last = known.find((member) => member.id === id)?.state ?? 'gone'
    if ((last === 'gone') === (now === 'gone')) return next
    return now === 'gone'
      ? withLine(next, at, 'gone', `${shortId(id)} is gone`)
      : withLine(next, at, 'joined', `${shortId(id)} joined at ${address}`)
  }, state)
}

/** Members that the answer does not name any more are gone for longer than it remembers. */
function merged(known: readonly ShownMember[], members: readonly Member[]): ShownMember[] {
  const byId = new Map(members.map((member) => [member.id, member]))
  const stay = known.filter(({ id }) => byId.has(id))
    .map((member) => ({ ...member, ...byId.get(member.id)! }))
  const ids = new Set(stay.map(({ id }) => id))
  return members.filter(({ id }) => !ids.has(id)).reduce<ShownMember[]>((all, member) => {
    all.push({ ...member, colour: freeColour(all), shards: 0 })
    return all
  }, stay)
}

function afterMember(state: ClusterState,
  { name, value: { at, id, address, state: now, self } }: ClusterEvent & {
    readonly name: 'joined' | 'gone' | 'draining'
  }): ClusterState {
  const known = state.members.find((member) => member.id === id)
  const member = known === undefined
    ? { ...unknown, id, address, self, state: now, shards: 0, colour: freeColour(state.members) }
    : { ...known, state: now }
  const members = known === undefined
    ? [...state.members, member]
    : state.members.map((each) => each === known ? member : each)
  const words = { joined: `joined at ${address}`, gone: 'is gone',
    draining: 'gives its shards back' }
  return withLine({ ...state, members: withShards(members, state.owners) }, at,
    name === 'draining' ? 'plain' : name, `${shortId(id)} ${words[name]}`)
}

function afterMove(state: ClusterState,
  { from, to, shards, at }: (ClusterEvent & { readonly name: 'moved' })['value']): ClusterState {
  const [owners, moves] = [[...state.owners], new Map(state.moves)]
  for (const shard of shards) {
    owners[shard] = to
    moves.set(shard, (moves.get(shard) ?? 0) + 1)
  }
  const nameOf = (id: string | null) => id === null ? 'nobody' : shortId(id)
  const text = `${shards.length} ${shards.length === 1 ? 'shard' : 'shards'}: ` +
    `${nameOf(from)} → ${nameOf(to)}`
  return withLine({ ...state, owners, moves, members: withShards(state.members, owners) }, at,
    'plain', text)
}

function withShards(members: readonly ShownMember[],
  owners: readonly (string | null)[]): ShownMember[] {
  const counts = new Map<string | null, number>()
  for (const owner of owners) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  return members.map((member) => {
    const shards = counts.get(member.id) ?? 0
    // A member joins until it owns something; no event of its own says that it serves.
    return { ...member, shards,
      state: member.state === 'joining' && shards > 0 ? 'serving' : member.state }
  })
}

function withLine(state: ClusterState, at: string, tone: StoryLine['tone'],
  text: string): ClusterState {
  const key = (state.story[0]?.key ?? 0) + 1
  return { ...state, story: [{ key, at, tone, text }, ...state.story].slice(0, storyMax) }
}

/** The colour that the fewest members have. */
function freeColour(members: readonly ShownMember[]): number {
  const uses = Array.from({ length: colours },
    (_, colour) => members.filter((member) => member.colour === colour).length)
  return uses.indexOf(Math.min(...uses))
}
