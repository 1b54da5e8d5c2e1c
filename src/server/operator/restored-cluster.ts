/**
 * Makes a cluster usable whose keyspaces come from snapshots. The rows of the log and the claims of
 * shards may be of different moments, so claims may be older than what was written under them.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { pause, withTimeout } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { UnfinishedThread } from '../../search/index.ts'
import type { CassandraSettings } from '../../settings/index.ts'
import { openControlTables } from '../../store/cassandra/index.ts'
import type { ControlTables } from '../../store/cassandra/index.ts'
import { connectionOptions } from '../backends/cassandra-connection.ts'
import { openCassandraBackend } from '../backends/cassandra-backend.ts'
import { Metrics } from '../metrics/metrics.ts'
import { stopRestored } from './stop-restored.ts'
import type { Stopped } from './stop-restored.ts'

/** Result for a restored cluster. `stopped` is undefined if unfinished work goes on. */
export interface RestoredCluster {
  readonly fenced: number
  readonly lifted: number
  readonly stopped: Stopped | undefined
}

/** Cluster to make usable, and the fate of its unfinished work. */
export interface RestoredClusterRequest {
  readonly settings: CassandraSettings
  readonly region: string | undefined
  /** True if the members continue the unfinished work. */
  readonly resumes: boolean
  readonly env: Env
}

/** Growth of each shard's epoch: more than it grew since the older snapshot. */
const liftedBy = 1_000

/** Time in which a member that is up leaves another heartbeat. */
const heartbeatMs = 4_000
/** Time until all rows are loaded, and for giving everything back. */
const [loadMs, closeMs] = [600_000, 10_000]
const lookMs = 100
const triesMax = 20

/**
 * Fences all sessions, lifts the epochs of all shards, and stops what was unfinished. Throws
 * HeddleError: `busy` if a member is up. May be called again if it was cut off.
 */
export async function restoredCluster(options: RestoredClusterRequest): Promise<RestoredCluster> {
  const { settings, env, resumes } = options
  const tables = await openControlTables({ ...connectionOptions(settings), env })
  try {
    await requireQuiet(tables, env)
    const fenced = await fenceAll(tables, env)
    const lifted = await liftAll(tables, env)
    return { fenced, lifted, stopped: resumes ? undefined : await stopIn(options, tables.shards) }
  } finally {
    await tables.close()
  }
}

/** Heartbeats that came with the snapshot do not change. */
async function requireQuiet(tables: ControlTables, env: Env): Promise<void> {
  const before = new Map((await tables.members()).map(({ id, count }) => [id, count]))
  if (before.size > 0) await pause(env, heartbeatMs)
  for (const { id, address, count } of await tables.members()) {
    if (before.get(id) === count) continue
    throw new HeddleError('busy', `The member ${id} at ${address} is up: end all members first.`)
  }
}

async function fenceAll({ sessions, aliveSessions }: ControlTables, env: Env): Promise<number> {
  const alive = await aliveSessions()
  const by = env.uuid()
  for (const session of alive) await sessions.fence(session, by)
  return alive.length
}

/** A shard without a claim may have had one that the snapshot lacks. */
async function liftAll({ shardOwners, shards }: ControlTables, env: Env): Promise<number> {
  for (let shard = 0; shard < shards; shard++) await lift(shardOwners, shard, env)
  return shards
}

async function lift(owners: ControlTables['shardOwners'], shard: number, env: Env): Promise<void> {
  let from = await owners.owner(shard)
  const epoch = (from?.epoch ?? 0) + liftedBy
  for (let tries = 1; tries <= triesMax && (from?.epoch ?? 0) < epoch; tries++) {
    const to = { shard, epoch, session: null, address: from?.address ?? '' }
    const { kind } = await owners.claim({ from, to })
    if (kind === 'claimed') return
    await pause(env, lookMs)
    from = await owners.owner(shard)
  }
  if ((from?.epoch ?? 0) >= epoch) return
  throw new HeddleError('unavailable', `The epoch of shard ${shard} cannot be lifted: see that a ` +
    'quorum of the nodes of Cassandra is up, and try again.')
}

/** Joins as the only member, takes all shards, and gives them back. */
async function stopIn({ settings, region, env }: RestoredClusterRequest,
  shards: number): Promise<Stopped> {
  const directory = mkdtempSync(join(tmpdir(), 'heddle-restored-'))
  const lost = Promise.withResolvers<never>()
  lost.promise.catch(() => {})
  const backend = await openCassandraBackend({ settings, region, directory, env,
    metrics: new Metrics(),
    endProcess: (reason) => lost.reject(new HeddleError('unavailable', reason)) })
  let ended = AbortSignal.abort()
  try {
    const work = stopRestored({ ...backend, begin: async (activations) => {
      const unfinished: UnfinishedThread[] = []
      const loaded = Promise.withResolvers<void>()
      // `wakeAt` is called once for each shard whose rows are there.
      let left = shards
      const note = async (threads: readonly UnfinishedThread[]) => void unfinished.push(...threads)
      await backend.begin({ activations, services: [], recentOf: () => [], releaseMs: closeMs,
        opened: note, wake: note, wakeAt: () => {
          left--
          if (left === 0) queueMicrotask(loaded.resolve)
        } })
      await withTimeout(env, loadMs, loaded.promise, () =>
        new HeddleError('unavailable', `${left} of ${shards} shards could not be read in time: ` +
          'try again.'))
      return unfinished
    } }, env)
    const stopped = await Promise.race([work, lost.promise])
    await backend.giveBack()
    ended = new AbortController().signal
    return stopped
  } finally {
    await backend.close(ended)
    rmSync(directory, { recursive: true, force: true })
  }
}
