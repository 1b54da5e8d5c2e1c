/** The store in Cassandra: durable ports of a member that shares a keyspace with others. */

import { join } from 'node:path'

import { atLatest, retryAtStartup } from '../../../cluster/index.ts'
import type { HeartbeatPort, OwnershipCheck, SessionPort,
  ShardPort } from '../../../cluster/index.ts'
import type { KeyTable as KeyTablePort } from '../../access/index.ts'
import type { BillingTable as BillingTablePort } from '../../billing/index.ts'
import type { LogPort } from '../../checkpoint/index.ts'
import type { LimitTable as LimitTablePort } from '../../limits/index.ts'
import type { AssistantIndex, CronIndex, DueCrons, DueThreads, ItemIndex, OwnIndex,
  RunTable as RunTablePort, ThreadIndex, ThreadSearch,
  UnfinishedThread } from '../../search/index.ts'
import { HeartbeatTable } from './cluster/heartbeat-table.ts'
import { SessionTable } from './cluster/session-table.ts'
import { requireBelong, readSettings, regionOf, settleRegion } from './cluster/setting-table.ts'
import type { ClusterSettings } from './cluster/setting-table.ts'
import { ShardTable } from './cluster/shard-table.ts'
import type { ConnectionOptions } from './driver/client-options.ts'
import { Connection } from './driver/connection.ts'
import { LocalIndex } from './index/local-index.ts'
import { OwnedRowTable } from './index/owned-row-table.ts'
import type { OwnedTable } from './index/owned-row.ts'
import { CassandraLog } from './log-port.ts'
import { BranchTable } from './log/branch-table.ts'
import { ChunkTable } from './log/chunk-table.ts'
import { LogTable } from './log/log-table.ts'
import type { CommitMode } from './log/log-table.ts'
import { RowCache } from './log/row-cache.ts'
import { WriteTimestamp } from './log/write-timestamp.ts'
import { prepareSchema, upgradeStateOf } from './schema/schema.ts'
import { BillingTable } from './tables/billing-table.ts'
import { KeyTable } from './tables/key-table.ts'
import { LimitTable } from './tables/limit-table.ts'
import { RunTable } from './tables/run-table.ts'
import type { FormerTables } from './tables/run-table.ts'
import { seenThreads } from './tables/seen-threads.ts'
import { StoredBodies } from './tables/stored-body.ts'

/** Connection, local index and region with which a store is opened. */
export interface CassandraStoreOptions extends ConnectionOptions {
  readonly commit: CommitMode
  /** Bytes of rows of the log that are kept in memory; 128 MiB by default. */
  readonly logCacheBytes?: number
  /** Directory of the local index, which is rebuilt at each start. */
  readonly directory: string
  /** Called with a message when the index cannot be kept up. Later changes are not found then. */
  onIndexLost(reason: string): void
  /** Region of this member. Without one, the keyspace must not belong to any region. */
  readonly region?: string
  /** Replicas per data center, by its name, for keyspaces that are created. */
  readonly replication?: Readonly<Record<string, number>>
}

/** The ports that acknowledge, once the ownership check is known. */
export interface ServedStore {
  readonly log: LogPort
  /** Reads single rows. Searches ask the indexes of all owners instead. */
  readonly threads: Pick<ThreadIndex, 'get'>
  readonly runs: RunTablePort
  readonly assistants: Pick<AssistantIndex, 'get'>
  readonly crons: Pick<CronIndex, 'get'>
  readonly items: Pick<ItemIndex, 'get' | 'ended'>
  readonly limits: LimitTablePort
}

/** The rows that this member owns, for searches. They come and go by shard. */
export interface ShardIndex extends OwnIndex {
  /**
   * Covers a shard that was claimed. Returns the threads that its last owner left busy, hidden or
   * with webhooks to send; none if the shard was unloaded meanwhile. After a failure it may be
   * called again. `opened` gets the threads whose rows a member of an earlier version left behind
   * their logs, and resolves when they do not lag any more: nothing of the shard is found before.
   */
  load(shard: number, opened?: (threads: readonly UnfinishedThread[]) => Promise<void>): Promise<
    readonly UnfinishedThread[]
  >
  /** Uncovers a shard at once. Call before the shard is given back. */
  unload(shard: number): void
  /** Threads of covered shards that sleep, the one that is due first in front. */
  due: DueThreads
  /** Crons of covered shards, the one that is due first in front. */
  dueCrons: DueCrons
}

/** The store of one member. It belongs to the server, which closes it last. */
export interface CassandraStore {
  readonly sessions: SessionPort
  readonly shardOwners: ShardPort
  readonly heartbeats: HeartbeatPort
  readonly keys: KeyTablePort
  readonly billing: BillingTablePort
  /** The secret by which members recognize each other, if they were given no other one. */
  readonly secret: string
  /** Number of shards, fixed when the cluster was created. */
  readonly shards: number
  /**
   * Makes the ports. Their acknowledgements pass the ownership check. `threads` searches those of
   * all owners. Call once.
   */
  serve(
    parts: { readonly check: Pick<OwnershipCheck, 'confirm'>;
      readonly threads: Pick<ThreadSearch, 'search'> },
  ): ServedStore
  readonly index: ShardIndex
  /** Reads of the log that memory answered (hits) and did not (misses), and its bytes. */
  readonly logCache: Pick<RowCache, 'stats'>
  /** Call before a shard is given back, when no work on it is in progress. */
  release(shard: number): void
  /** Milliseconds by which the clock of this machine is ahead of Cassandra's, at least. */
  clockAheadMs(): Promise<number>
  /** True if Cassandra answers. */
  reachable(): Promise<boolean>
  /** Takes no more calls. Resolves when earlier calls have ended, if Cassandra answers. */
  quiet(): Promise<void>
  /** Becomes quiet, gives up what has not ended, and closes everything. */
  close(): Promise<void>
}

/** Time that closing waits for what is in flight. */
const endingMs = 3_000

/** Opens the store. Throws HeddleError with a message if a setting cannot work. */
export async function openCassandraStore(options: CassandraStoreOptions): Promise<CassandraStore> {
  const connection = await Connection.open(options)
  try {
    return await storeOver(connection, options)
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function storeOver(connection: Connection,
  options: CassandraStoreOptions): Promise<CassandraStore> {
  const { env, directory, logCacheBytes = 128 * 1024 * 1024, onIndexLost: onLost } = options
  return await storeInKeyspace({
    ...options,
    ...await readyKeyspace(connection, options),
    connection,
    cache: new RowCache(logCacheBytes),
    openIndex: (tables, shards) =>
      LocalIndex.open({ directory: join(directory, 'index'), env, shards, tables, onLost }),
  })
}

/** The parts of a store whose keyspace has its tables. */
export interface KeyspaceStoreParts extends Pick<CassandraStoreOptions, 'env' | 'commit'> {
  readonly connection: Connection
  readonly settings: ClusterSettings
  /** Undefined if the keyspace has no rows in tables of earlier versions. */
  readonly former: FormerTables | undefined
  readonly cache: RowCache
  /** Opens the index of a member, which is empty. */
  openIndex(tables: Readonly<Record<OwnedTable, OwnedRowTable>>,
    shards: number): Promise<LocalIndex>
}

/** Makes the store of a member over a keyspace that has its tables. */
export async function storeInKeyspace(parts: KeyspaceStoreParts): Promise<CassandraStore> {
  const { connection, env, settings, former, cache, openIndex } = parts
  const { shards, secret } = settings
  const chunks = new ChunkTable(connection)
  const bodies = new StoredBodies(connection, chunks)
  const table = (kind: OwnedTable) => new OwnedRowTable({ connection, bodies, settings, kind })
  const rows = { thread: table('thread'), assistant: table('assistant'), cron: table('cron'),
    item: table('item') }
  const runs = new RunTable({ connection, bodies, env, former })
  const index = await openIndex(rows, shards)
  const billing = new BillingTable(connection)
  let log: CassandraLog | undefined
  const quiet = async () => log && atLatest(env, endingMs, log.close())
  return {
    sessions: new SessionTable(connection, env),
    shardOwners: new ShardTable(connection, shards),
    heartbeats: new HeartbeatTable(connection),
    keys: new KeyTable(connection),
    billing,
    secret,
    shards,
    serve: ({ check, threads: ofAll }) => {
      log = openLog({ ...parts, chunks, runs, billing, rows, index, check })
      const limits = new LimitTable({ connection, check, env })
      const { threads, assistants, crons, items } = index
      const table: RunTablePort = {
        get: (...run) => runs.get(...run),
        list: (query) => runs.list(query),
        search: (query, cancelled) => runs.search(query, cancelled, seenThreads(ofAll, query)),
      }
      return { log, runs: table, limits, threads, assistants, crons, items }
    },
    index,
    logCache: cache,
    release: (shard) => {
      log?.forget()
      index.unload(shard)
    },
    clockAheadMs: () => connection.clockAheadMs(),
    reachable: () => connection.reachable(),
    quiet,
    close: async () => {
      await quiet()
      await connection.close()
      await index.close()
    },
  }
}

/** Makes the keyspace and its schema where they are not, and reads the settings of the cluster. */
async function readyKeyspace(connection: Connection,
  { env, replication, region }: CassandraStoreOptions) {
  return await retryAtStartup(env, async () => {
    await prepareSchema({ connection, env, replication })
    const [settings, upgrade] = await Promise.all([readSettings(connection, env),
      upgradeStateOf(connection), settleRegion(connection, region)])
    return { settings, former: upgrade.hasFormer ? upgrade : undefined }
  })
}

type LogParts =
  & Omit<ConstructorParameters<typeof CassandraLog>[0], 'rank' | 'branches' | 'log'>
  & Pick<CassandraStoreOptions, 'env' | 'commit'>
  & { readonly chunks: ChunkTable; readonly cache: RowCache }

/** Opens the log, whose tables share one order of writes. */
function openLog(parts: LogParts): CassandraLog {
  const { connection, chunks, cache, check, env, commit } = parts
  const rank = new WriteTimestamp()
  const branches = new BranchTable(connection, rank)
  const log = new LogTable({ connection, rank, chunks, cache, check, env, commit,
    isDead: (id) => branches.isDead(id) })
  return new CassandraLog({ ...parts, rank, branches, log })
}

/** Tables for operator commands, without the worker threads of a store. */
export interface OperatorTables extends Pick<CassandraStore, 'keys' | 'billing'> {
  /** The region that the keyspace belongs to, if any. */
  readonly region?: string
  close(): Promise<void>
}

/** Opens tables for a short-lived command. Throws as opening the store does. */
export async function openOperatorTables(
  options: ConnectionOptions & { readonly region?: string },
): Promise<OperatorTables> {
  const connection = await Connection.open(options)
  try {
    await prepareSchema({ connection, env: options.env })
    const region = await regionOf(connection)
    if (region !== undefined && options.region !== undefined) {
      requireBelong(connection, region, options.region)
    }
    return { keys: new KeyTable(connection), billing: new BillingTable(connection),
      ...region !== undefined && { region }, close: () => connection.close() }
  } catch (error) {
    await connection.close()
    throw error
  }
}
