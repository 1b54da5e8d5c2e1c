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
    const owner = all.find((status) => status !== undefined)?.shards
      .find((other) => other.shard === shard)?.session
    const index = all.findIndex((status) => status?.member.id === owner)
    return index < 0 ? undefined : index
  })
}

/** Resolves when members see each other, shards are owned where placed, and search covers all. */
export async function untilWhole({ frontDoors }: Cluster, threads: number): Promise<void> {
  await until(wholeMs, 'a cluster in which every shard is where it is placed', async () => {
    const all = await Promise.all(frontDoors.map(statusOf))
    return all.every((status) => isWhole(status, frontDoors.length)) || undefined
  }, askWholeMs)
  await Promise.all(
    frontDoors.map((url) =>
      until(wholeMs, `a search at ${url} that covers ${threads} threads`, async () => {
        const { status, body } = await ask(url, 'POST', '/threads/count', {})
        return status === 200 && Number(body) >= threads || undefined
      })
    ),
  )
}

function isWhole(status: ClusterStatus | undefined, members: number): boolean {
  return status !== undefined && status.view.length === members &&
    status.shards.length === defaultShards &&
    status.shards.every(({ shard, session }) => placeShard(shard, status.view).id === session)
}
