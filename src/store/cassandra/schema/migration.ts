/** The tables, in numbered steps. A step never changes; a later change is a new step. */

import { documentTable, feedbackWaitingTable, fileProject,
  platformTables } from './platform-tables.ts'

/** Names of the two keyspaces: of the data, and of control rows. */
export interface Keyspaces {
  readonly keyspace: string
  readonly control: string
}

/** A step of the schema. */
export interface Migration {
  /** Statements of the step. Each may be executed again, also after later steps. */
  readonly statements: (keyspaces: Keyspaces) => readonly string[]
  /**
   * Version of the oldest members that can work with this step. Such members read and write the
   * tables as if the step were not there, and lose nothing. A step that only adds keeps the number
   * of the step before. A step that removes something names the first version that does not need
   * it.
   */
  readonly oldest: number
}

/** Compaction of rows that are written at any time, and read by key or by partition. */
const compaction = `compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'T4'}`
/** Compaction of rows that are rewritten in place: few sstables for a row. */
const rewritten = `compaction = {'class': 'UnifiedCompactionStrategy', 'scaling_parameters': 'L4'}`

/**
 * Reads ask another replica after 200 ms at most. As long as Cassandra has seen few reads, it would
 * count a replica as slow later than our patience ends.
 */
export const reads = `speculative_retry = 'MIN(99p,200ms)'`

const dayS = 24 * 60 * 60

/**
 * A row of the log has `epoch` 1 or more. A place of a checkpoint has `epoch` 0 and lies beside the
 * row that carries it: `stated` is the seq of the row that states it, `stated_epoch` its epoch,
 * `seq` a hash of the checkpoint's id. Reading a tail relies on blocking read repair.
 */
const log = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.log (
  branch_id uuid, bucket int, epoch bigint, seq bigint, stated bigint, stated_epoch bigint,
  head_epoch bigint static, head_seq bigint static,
  prev_epoch bigint, settled_seq bigint, bucket_bytes int, stretches blob, places blob,
  chunks int, body blob,
  place_id text, place_seq bigint, place_base bigint,
  PRIMARY KEY ((branch_id, bucket), epoch, seq, stated, stated_epoch)
) WITH CLUSTERING ORDER BY (epoch DESC, seq DESC, stated DESC, stated_epoch DESC)
  AND read_repair = 'BLOCKING' AND ${reads} AND ${compaction}`

const logChunk = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.log_chunk (
  row_key text, part int, data blob, PRIMARY KEY ((row_key, part))
) WITH ${reads} AND ${compaction}`

/** Rows of an ancestor that a living branch needs. */
const branchNeed = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.branch_need (
  ancestor uuid, branch uuid, through bigint, PRIMARY KEY ((ancestor), branch)
) WITH ${reads} AND ${rewritten}`

/** Branches that were deleted, or that grew from others. */
const branch = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.branch (
  branch_id uuid PRIMARY KEY, dead boolean) WITH ${reads} AND ${rewritten}`

/** A body that is too large for its row is in chunks, which are named with `chunk_rank`. */
const runRow = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.run_row (
  tenant text, thread_id text, run_id text, created_at bigint,
  body blob, chunks int, chunk_rank bigint,
  PRIMARY KEY ((tenant, thread_id, run_id))
) WITH ${reads} AND ${rewritten}`

const runOrder = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.run_order (
  tenant text, thread_id text, created_at bigint, run_id text,
  PRIMARY KEY ((tenant, thread_id), created_at, run_id)
) WITH CLUSTERING ORDER BY (created_at DESC, run_id DESC) AND ${reads} AND ${compaction}`

/** Runs of a tenant that were made in an hour since 1970. A run is written once. */
const runTime = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.run_time (
  tenant text, hour int, created_at bigint, run_id text, thread_id text,
  PRIMARY KEY ((tenant, hour), created_at, run_id)
) WITH CLUSTERING ORDER BY (created_at DESC, run_id DESC) AND ${reads} AND ${compaction}`

/** The hours in which a tenant made runs. */
const runHour = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.run_hour (
  tenant text, hour int, PRIMARY KEY ((tenant), hour)
) WITH CLUSTERING ORDER BY (hour DESC) AND ${reads} AND ${rewritten}`

/**
 * Runs of a thread. Where `created_at` is -1, it is the row of a run, otherwise its place in the
 * order. `part` is empty for the places and for the rows beside them. For a row that is apart it is
 * the id of its run.
 */
const run = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.run (
  tenant text, thread_id text, part text, created_at bigint, run_id text,
  apart boolean, made_at bigint, body blob, chunks int, chunk_rank bigint,
  PRIMARY KEY ((tenant, thread_id, part), created_at, run_id)
) WITH CLUSTERING ORDER BY (created_at DESC, run_id DESC) AND ${reads} AND ${rewritten}`

/** For searches of a tenant by time. Each node indexes its own rows, as part of their writes. */
const runIndex = (column: string) => ({ keyspace }: Keyspaces) =>
  `CREATE INDEX IF NOT EXISTS run_by_${column} ON ${keyspace}.run (${column}) USING 'sai'`

/** Table whose partitions are read when a shard is taken, so deleted rows must go soon. */
const ownedRow = (table: string, id: string) => ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.${table} (
  shard int, bucket int, tenant text, ${id} text,
  body blob, chunks int, chunk_rank bigint,
  PRIMARY KEY ((shard, bucket), tenant, ${id})
) WITH gc_grace_seconds = ${dayS} AND ${reads} AND ${rewritten}`

/**
 * Members of commit 2988e945 and before mark threads whose logs may be ahead of their rows. Members
 * of this version write no marks, but read and remove those.
 */
const unsettledThread = ({ keyspace }: Keyspaces) =>
  `ALTER TABLE ${keyspace}.thread_row ADD IF NOT EXISTS unsettled boolean`

const session = ({ control }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${control}.node_session (
  session uuid PRIMARY KEY, state text, address text, started timestamp, fenced_by uuid
) WITH ${reads}`

/** Heartbeats of all members, in one partition. They are hints, and expire by themselves. */
const memberHeartbeat = ({ control }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${control}.member_beat (
  cluster int, session uuid, count bigint, leaving boolean, address text,
  PRIMARY KEY ((cluster), session)
) WITH default_time_to_live = 120 AND gc_grace_seconds = 60 AND ${reads} AND ${rewritten}`

const shardOwner = ({ control }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${control}.shard_owner (
  shard int PRIMARY KEY, epoch bigint, session uuid, address text) WITH ${reads}`

const setting = ({ control }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${control}.setting (
  name text PRIMARY KEY, value text) WITH ${reads}`

/** Small rows that are often asked for by id. */
const apiKey = ({ control }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${control}.api_key (
  key_id text PRIMARY KEY, tenant text, role text, name text, hash text,
  created_at bigint, expires_at bigint, used_at bigint, revoked_at bigint
) WITH ${reads} AND ${rewritten}`

/**
 * Each row expires and is never changed. A row that comes back late does no harm, so tombstones may
 * go soon.
 */
const limitAdmit = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.limit_admit (
  row_name text, who text, at_ms bigint, id uuid, tokens int,
  PRIMARY KEY ((row_name, who), at_ms, id)
) WITH CLUSTERING ORDER BY (at_ms DESC, id ASC) AND gc_grace_seconds = 3600
  AND read_repair = 'BLOCKING' AND ${reads} AND ${compaction}`

/** Rows are kept for ever and never changed. */
const billing = ({ keyspace }: Keyspaces) =>
  `CREATE TABLE IF NOT EXISTS ${keyspace}.billing (
  tenant text, day text, ended_at bigint, run_id text, thread_id text, assistant_id text,
  graph_id text, status text, started_at bigint,
  PRIMARY KEY ((tenant, day), ended_at, run_id)
) WITH ${reads} AND ${compaction}`

const tablesOfTheBeginning = [setting, session, shardOwner, log, logChunk, branchNeed, branch,
  runRow, runOrder, ownedRow('thread_row', 'thread_id'), ownedRow('assistant_row', 'assistant_id')]

/**
 * The steps of the schema. The first one makes version 1. Members that know only the first six
 * refuse tables that have seen more. From the seventh on, a step that only adds says `oldest: 6`.
 */
export const migrations: readonly Migration[] = [
  {
    statements: (keyspaces) => tablesOfTheBeginning.map((table) => table(keyspaces)),
    oldest: 1,
  },
  { statements: (keyspaces) => [memberHeartbeat(keyspaces)], oldest: 2 },
  { statements: (keyspaces) => [apiKey(keyspaces)], oldest: 3 },
  { statements: (keyspaces) => [limitAdmit(keyspaces)], oldest: 4 },
  { statements: (keyspaces) => [billing(keyspaces)], oldest: 5 },
  // Later rows carry places: a program that looks beside each row only would miss some.
  { statements: () => [], oldest: 6 },
  { statements: (keyspaces) => [ownedRow('cron_row', 'cron_id')(keyspaces)], oldest: 6 },
  { statements: (keyspaces) => [ownedRow('item_row', 'item_id')(keyspaces)], oldest: 6 },
  {
    statements: ({ keyspace }) =>
      platformTables({ keyspace, options: `${reads} AND ${compaction}` }),
    oldest: 6,
  },
  { statements: (keyspaces) => [runTime(keyspaces), runHour(keyspaces)], oldest: 6 },
  {
    statements: (
      { keyspace },
    ) => [documentTable({ keyspace, options: `${reads} AND ${rewritten}` })],
    oldest: 6,
  },
  {
    statements: (
      { keyspace },
    ) => [feedbackWaitingTable({ keyspace, options: `${reads} AND ${rewritten}` })],
    oldest: 6,
  },
  {
    statements: (keyspaces) =>
      [run, runIndex('tenant'), runIndex('created_at')].map((each) => each(keyspaces)),
    oldest: 6,
  },
  { statements: (keyspaces) => [unsettledThread(keyspaces)], oldest: 6 },
  { statements: ({ keyspace }) => [fileProject(keyspace)], oldest: 6 },
]

/** The newest version of the tables that this program supports. */
export const supportedTables = migrations.length

/**
 * The version from which on members write runs into one table. Those of an earlier one do not find
 * them there, so it is done only where they are refused.
 */
export const finishedFrom = 14
