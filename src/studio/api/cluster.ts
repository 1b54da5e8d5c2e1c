/** The cluster: its members, who owns which shard, and what happens to them. */

import type { Cluster } from '../../api/index.ts'
import { addressFor } from './address.ts'
import { follow } from './event-stream.ts'
import type { StreamEvent } from './event-stream.ts'

export type { Cluster }

/** A member as an answer has it. */
export type Member = Cluster['members'][number]
/** State of a member of the cluster. */
export type MemberState = Member['state']
/** Figures that a member reports of itself; null where it did not answer. */
export type MemberFigures = Pick<Member, 'version' | 'started_at' | 'actors' | 'runs' | 'load'>
/** Region in which the cluster is deployed. */
export type ClusterRegion = NonNullable<Cluster['region']>

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
  const path = addressFor('GET /cluster/stream', {})
  for await (const event of follow({ path, signal, away })) {
    if (names.has(event.event)) yield eventOf(event)
  }
}

function eventOf({ event: name, text }: StreamEvent): ClusterEvent {
  return { name, value: JSON.parse(text) as unknown } as ClusterEvent
}
