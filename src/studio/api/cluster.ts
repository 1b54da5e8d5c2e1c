/** The cluster: its members, who owns which shard, and what happens to them. */

import { follow } from './event-stream.ts'
import type { StreamEvent } from './event-stream.ts'

/** What a member does. */
export type MemberState = 'joining' | 'serving' | 'draining' | 'gone'

/** What a member says of itself; null where it did not answer. */
export interface MemberFigures {
  readonly version: string | null
  readonly started_at: string | null
  readonly actors: number | null
  readonly runs: number | null
  /** The share of its processors that it used lately, from 0 to 1. */
  readonly load: number | null
}

/** A member as an answer has it. */
export interface Member extends MemberFigures {
  readonly id: string
  readonly address: string
  readonly state: MemberState
  /** True for the member that answers. */
  readonly self: boolean
}

/** Where the cluster is deployed. */
export interface ClusterRegion {
  readonly name: string
  readonly api_url?: string
  readonly ingress?: readonly string[]
  readonly egress?: readonly string[]
}

/** The cluster at one moment. */
export interface Cluster {
  readonly members: readonly Member[]
  /** Indexes of members by shard; null for nobody. */
  readonly shards: { readonly count: number; readonly owners: readonly (number | null)[] }
  readonly region: ClusterRegion | null
  readonly embedded: boolean
}

/** An event of the cluster. Times are ISO texts. */
export type ClusterEvent =
  | { readonly name: 'cluster'; readonly value: Cluster }
  | { readonly name: 'joined' | 'gone' | 'draining';
    readonly value: Pick<Member, 'id' | 'address' | 'state' | 'self'> & { readonly at: string } }
  | { readonly name: 'moved';
    readonly value: { readonly from: string | null; readonly to: string | null;
      readonly shards: readonly number[]; readonly at: string } }
  | { readonly name: 'load'; readonly value: {
    readonly members: readonly (MemberFigures & { readonly id: string })[]
  } }

const names: ReadonlySet<string> = new Set(['cluster', 'joined', 'gone', 'draining', 'moved',
  'load'])

/**
 * Follows the cluster until the signal is aborted. After a broken connection the whole of it comes
 * again. Throws ApiError for a refusal that stays.
 */
export async function* followCluster(signal: AbortSignal,
  away: (why: Error | undefined) => void): AsyncGenerator<ClusterEvent> {
  for await (const event of follow({ path: '/cluster/stream', signal, away })) {
    if (names.has(event.event)) yield eventOf(event)
  }
}

function eventOf({ event: name, text }: StreamEvent): ClusterEvent {
  return { name, value: JSON.parse(text) as unknown } as ClusterEvent
}
