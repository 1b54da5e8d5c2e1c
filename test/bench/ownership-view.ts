/** Who owns what in a running cluster, as its members report it. */

import { actorKeyText, defaultShards, shardOf } from '../../cluster/index.ts'
import type { ClusterStatus } from '../../cluster/index.ts'
import { placeShard } from '../../cluster/shards/placement.ts'
import type { Cluster } from '../support/cluster.ts'
import { ask } from '../support/wire.ts'
import { until, within } from './patience.ts'

const wholeMs = 90_000
const askMs = 5_000
/** Rarely: the answer is long, and the member that gives it is being measured. */
const askWholeMs = 250

/** Undefined while it does not answer. */
export async function statusOf(url: string): Promise<ClusterStatus | undefined> {
  const answer = await within(askMs, `the status of the cluster at ${url}`,
    ask(url, 'GET', '/internal/cluster')).catch(() => undefined)
  return answer?.status === 200 ? answer.body as ClusterStatus : undefined
}

/** The shard of a thread in a cluster created for the benchmark. */
export function shardOfThread(id: string): number {
  return shardOf(actorKeyText({ tenant: 'local', kind: 'thread', id }), defaultShards)
}

/** Which of the members owns a thread. */
export async function ownerPlace({ frontDoors }: Cluster, threadId: string): Promise<number> {
  const shard = shardOfThread(threadId)
  return until(wholeMs, `the owner of thread ${threadId}`, async () => {
    const all = await Promise.all(frontDoors.map(statusOf))
    const index = all.findIndex((status) => status !== undefined && ownsShard(status, shard))
    return index < 0 ? undefined : index
  })
}

/**
 * Resolves when members see each other, and shards are owned where they are placed. If that does
 * not come, the error says what each member saw last.
 */
export async function untilPlaced({ frontDoors }: Pick<Cluster, 'frontDoors'>): Promise<void> {
  let seen: readonly string[] = []
  const look = async () => {
    const all = await Promise.all(frontDoors.map(statusOf))
    seen = all.map((status) => seenIn(status))
    return all.every((status) => isWhole(status, frontDoors.length)) || undefined
  }
  await until(wholeMs, 'a cluster in which every shard is where it is placed', look, askWholeMs)
    .catch((error: unknown) => {
      throw new Error(`${(error as Error).message} Seen: ${seen.join('; ')}.`, { cause: error })
    })
}

/** Resolves when members see each other, shards are owned where placed, and search covers all. */
export async function untilWhole(cluster: Cluster, threads: number): Promise<void> {
  await untilPlaced(cluster)
  await Promise.all(
    cluster.frontDoors.map((url) =>
      until(wholeMs, `a search at ${url} that covers ${threads} threads`, async () => {
        const { status, body } = await ask(url, 'POST', '/threads/count', {})
        return status === 200 && Number(body) >= threads || undefined
      })
    ),
  )
}

function seenIn(status: ClusterStatus | undefined): string {
  if (status === undefined) return 'no answer'
  const { view, shards, member: { id } } = status
  const owned = shards.filter(({ session }) => session === id)
  return `${view.length} members, owns ${owned.length} of ${placedAt(status).length} shards`
}

/**
 * True for a member that sees so many members, and owns what is placed at it.
 *
 * Each member is believed about its own shards alone: if an announcement of a change is lost, the
 * others learn of it when they need the shard.
 */
export function isWhole(status: ClusterStatus | undefined, members: number): boolean {
  return status !== undefined && status.view.length === members &&
    placedAt(status).every((shard) => ownsShard(status, shard))
}

function placedAt({ view, member: { id } }: ClusterStatus): readonly number[] {
  return Array.from({ length: defaultShards }, (_, shard) => shard)
    .filter((shard) => placeShard(shard, view).id === id)
}

function ownsShard({ shards, member: { id } }: ClusterStatus, shard: number): boolean {
  return shards.some((each) => each.shard === shard && each.session === id)
}
