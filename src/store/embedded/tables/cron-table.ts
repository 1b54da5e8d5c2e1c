/** Rows of crons, with an index of those that must be looked at: it is the heap of due times. */

import type { PurgeSubject } from '../../../checkpoint/index.ts'
import type { CronFilter, CronQuery, CronSort, DueCron } from '../../../search/index.ts'
import type { Database, NamedValues, Statement } from '../file/database.ts'
import { idKey } from '../file/id-key.ts'
import type { NumberOf } from '../search/row-number.ts'
import { matching } from '../search/search-slice.ts'
import type { CandidateRow, Documents } from '../search/search-slice.ts'
import { pageOf } from '../search/stored-row.ts'
import type { RowPage, SizedRow, StoredRow } from '../search/stored-row.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'
import type { TenantUses } from './tenant-uses.ts'

/** A row as the writer takes it. Searchable fields are columns, and the body has everything. */
export interface CronEntry {
  readonly tenant: string
  readonly cronId: string
  readonly branchId: string
  readonly epoch: number
  readonly seq: number
  readonly assistantId: string
  readonly threadId: string
  readonly enabled: boolean
  readonly nextMs: number
  readonly wakeMs: number
  /** Missing from what an older program left in its write-ahead file. */
  readonly aheadUntilMs?: number
  readonly endTimeMs: number
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly metadataJson: string
  /** An encoded storage.v1.CronRow without its metadata. */
  readonly body: Uint8Array
  /** Bytes of its log. */
  readonly bytes: number
}

/** Table of crons, and how many each tenant has. */
export const cronSchema = `
  CREATE TABLE cron (
    tenant TEXT NOT NULL,
    cron_id TEXT NOT NULL,
    branch_key BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    assistant_id TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    wake_at INTEGER NOT NULL,
    end_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    body BLOB NOT NULL
  );
  CREATE UNIQUE INDEX cron_cron_id ON cron (tenant, cron_id);
  CREATE INDEX cron_created_at ON cron (tenant, created_at, cron_id);
  CREATE INDEX cron_thread_id ON cron (tenant, thread_id) WHERE thread_id <> '';
  CREATE INDEX cron_wake_at ON cron (wake_at) WHERE wake_at > 0;
  CREATE TABLE cron_use (tenant TEXT PRIMARY KEY, crons INTEGER NOT NULL) WITHOUT ROWID;
`

/** Times until which due times may have to follow the clock back. Most have passed. */
export const cronAheadSchema = `
  ALTER TABLE cron ADD COLUMN ahead_until INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX cron_ahead_until ON cron (ahead_until) WHERE ahead_until > 0;
`

/** Due times of these are later than those that they may fire next, under a clock that is right. */
const isAhead = `(ahead_until > :now AND enabled = 1 AND (wake_at = 0 OR wake_at > ahead_until))`
/** The place of these is before that of all others. */
const aheadAtMs = 1

/** Characters of metadata of one tenant. With more, the writer thread does not read it. */
const longBytes = 256 * 1024

const columnOf: Readonly<Record<CronSort, string>> = {
  cron_id: 'cron_id',
  assistant_id: 'assistant_id',
  thread_id: 'thread_id',
  next_run_date: 'next_at',
  end_time: 'end_at',
  created_at: 'created_at',
  updated_at: 'updated_at',
}

const changing = ['branch_key', 'epoch', 'seq', 'assistant_id', 'thread_id', 'enabled', 'next_at',
  'wake_at', 'end_at', 'created_at', 'updated_at', 'bytes', 'metadata', 'body',
  'ahead_until'] as const

/** Stores and searches rows of crons. Belongs to `Tables`. */
export class CronTable {
  readonly #database: Database
  readonly #numberOf: NumberOf
  readonly #unlisted: UnlistedShards | undefined
  readonly #uses: TenantUses
  readonly #bytes: Statement<readonly [bytes: number]>
  readonly #put: Statement<never>
  readonly #remove: Statement<never>
  readonly #get: Statement<StoredRow>
  readonly #row: Statement<StoredRow>

  /** Without `numberOf`, SQLite numbers new rows. */
  constructor(database: Database, uses: TenantUses, numberOf: NumberOf = () => null,
    unlisted?: UnlistedShards) {
    this.#database = database
    this.#uses = uses
    this.#numberOf = numberOf
    this.#unlisted = unlisted
    const ofOne = 'cron WHERE tenant = ? AND cron_id = ?'
    this.#bytes = database.prepare(`SELECT bytes FROM ${ofOne}`)
    this.#put = database.prepare(`
      INSERT INTO cron (rowid, tenant, cron_id, ${changing.join(', ')})
      VALUES (?, ?, ?${', ?'.repeat(changing.length)}) ON CONFLICT (tenant, cron_id)
      DO UPDATE SET ${changing.map((each) => `${each} = excluded.${each}`).join(', ')}
      WHERE excluded.epoch > epoch OR (excluded.epoch = epoch AND
        (excluded.seq >= seq OR excluded.branch_key <> branch_key))`)
    this.#remove = database.prepare(`DELETE FROM ${ofOne} AND branch_key = ?`)
    this.#get = database.prepare(`SELECT metadata, body FROM ${ofOne}`)
    this.#row = database.prepare('SELECT metadata, body FROM cron WHERE rowid = ?')
  }

  get(tenant: string, cronId: string): StoredRow | undefined {
    return this.#get.get(tenant, cronId)
  }

  /** Stores a row. Changes nothing if the stored row is newer. */
  put(entry: CronEntry): void {
    const { tenant, cronId, branchId, epoch, seq, bytes } = entry
    const before = this.#bytes.get(tenant, cronId)
    const no = this.#numberOf(tenant, cronId)
    const { changes } = this.#put.run(no, tenant, cronId, idKey(branchId), epoch, seq,
      entry.assistantId, entry.threadId, entry.enabled ? 1 : 0, entry.nextMs, entry.wakeMs,
      entry.endTimeMs, entry.createdAtMs, entry.updatedAtMs, bytes, entry.metadataJson, entry.body,
      entry.aheadUntilMs ?? 0)
    if (changes === 0) return
    const added = { crons: before ? 0 : 1, bytes: bytes - (before?.[0] ?? 0) }
    this.#uses.addCrons({ tenant, no }, added)
  }

  /** Removes a row, unless the cron was made again with another branch. */
  remove({ tenant, id, branch }: PurgeSubject): void {
    const before = this.#bytes.get(tenant, id)
    const { changes } = this.#remove.run(tenant, id, idKey(branch.id))
    if (before === undefined || changes === 0) return
    this.#uses.addCrons({ tenant, no: this.#numberOf(tenant, id) }, { crons: -1,
      bytes: -before[0] })
  }

  /** Crons after the given place, the one that must be looked at first in front. */
  due({ atMs, no }: Pick<DueCron, 'atMs' | 'no'>, limit: number, nowMs: number): DueCron[] {
    const select = (sql: string, values: NamedValues) =>
      this.#database.prepare<readonly [string, string, number, number]>(sql).all(values)
        .map(([tenant, cronId, dueMs, number]) => ({ tenant, cronId, atMs: dueMs, no: number }))
    const ahead = atMs > aheadAtMs ? [] : select(
      `SELECT tenant, cron_id, ${aheadAtMs}, rowid FROM cron INDEXED BY cron_ahead_until
        WHERE ahead_until > 0 AND ${isAhead} AND (${aheadAtMs}, rowid) > (:at, :no) ${this.#listed}
        ORDER BY rowid LIMIT :limit`,
      { now: nowMs, at: atMs, no, limit },
    )
    if (ahead.length === limit) return ahead
    return [...ahead, ...select(
      `SELECT tenant, cron_id, wake_at, rowid FROM cron INDEXED BY cron_wake_at
        WHERE wake_at > 0 AND (wake_at, rowid) > (:at, :no) AND NOT ${isAhead} ${this.#listed}
        ORDER BY wake_at, rowid LIMIT :limit`,
      { now: nowMs, at: atMs, no, limit: limit - ahead.length },
    )]
  }

  /**
   * True if the filter needs more documents than the writer thread should read, since writes wait
   * for that thread.
   */
  isLong(filter: CronFilter): boolean {
    const { metadata, ...others } = filter
    if (metadata === undefined) return false
    const { sql, values } = this.#conditionsOf(others)
    const sum = this.#database.prepare<readonly [number | null]>(
      `SELECT sum(octet_length(metadata)) FROM cron ${sql}`,
    )
    return (sum.get(values)![0] ?? 0) > longBytes
  }

  /** Searches like `search`, in slices. It stops after each. */
  *documents(query: CronQuery): Generator<void, Documents, void> {
    const { metadata = {}, ...others } = query
    const { limit, offset } = query
    const { sql, values } = this.#conditionsOf(others)
    const candidates = this.#database.prepare<CandidateRow>(`
      SELECT rowid, octet_length(metadata) + length(body), metadata FROM cron ${sql}
      ${orderOf(query)}`)
    return yield* matching(candidates.iterate(values), { metadata, limit, offset })
  }

  search(query: CronQuery): { page: RowPage<StoredRow>; total: number } {
    const { limit, offset } = query
    const { sql, values } = this.#conditionsOf(query)
    const sizes = this.#database.prepare<SizedRow>(`
      SELECT rowid, octet_length(metadata) + length(body) FROM cron ${sql}
      ${orderOf(query)} LIMIT :limit OFFSET :offset`)
    const page = pageOf(sizes.all({ ...values, limit, offset }), (no) => this.#row.get(no)!)
    return { page, total: this.count(query) }
  }

  /** The rows with these numbers that still exist. */
  rows(numbers: readonly number[]): StoredRow[] {
    return numbers.map((no) => this.#row.get(no)).filter((row) => row !== undefined)
  }

  count(filter: CronFilter): number {
    const { sql, values } = this.#conditionsOf(filter)
    return this.#database.prepare<[number]>(`SELECT count(*) FROM cron ${sql}`).get(values)![0]
  }

  #conditionsOf(filter: CronFilter): { sql: string; values: NamedValues } {
    const { sql, values } = conditionsOf(filter)
    return { sql: `${sql} ${this.#listed}`, values }
  }

  get #listed(): string {
    return this.#unlisted?.condition('rowid') ?? ''
  }
}

function orderOf({ sortBy, sortOrder }: CronQuery): string {
  const order = sortOrder === 'asc' ? 'ASC' : 'DESC'
  return `ORDER BY ${columnOf[sortBy]} ${order}, cron_id ${order}`
}

function conditionsOf(
  { tenant, assistantId, threadId, enabled, metadata }: CronFilter,
): { sql: string; values: NamedValues } {
  const conditions = ['tenant = :tenant']
  const values: NamedValues = { tenant }
  if (assistantId !== undefined) {
    conditions.push('assistant_id = :assistantId')
    values['assistantId'] = assistantId
  }
  if (threadId !== undefined) {
    conditions.push("thread_id = :threadId AND thread_id <> ''")
    values['threadId'] = threadId
  }
  if (enabled !== undefined) {
    conditions.push('enabled = :enabled')
    values['enabled'] = enabled ? 1 : 0
  }
  if (metadata !== undefined) {
    conditions.push('holds(metadata, :metadata)')
    values['metadata'] = JSON.stringify(metadata)
  }
  return { sql: `WHERE ${conditions.join(' AND ')}`, values }
}
