/** Rows of crons, with an index of those that must be looked at: it is the heap of due times. */

import type { PurgeSubject } from '../../../checkpoint/index.ts'
import type { CronFilter, CronSort, DueCron } from '../../../search/index.ts'
import type { Database, NamedValues, Statement } from '../file/database.ts'
import type { NumberOf } from '../search/row-number.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'
import { OwnedRowTable } from './owned-row-table.ts'
import type { OwnedRowKind } from './owned-row-table.ts'
import type { TenantUses } from './tenant-uses.ts'

/** A row as the writer takes it. */
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

const columnOf: Readonly<Record<CronSort, string>> = {
  cron_id: 'cron_id',
  assistant_id: 'assistant_id',
  thread_id: 'thread_id',
  next_run_date: 'next_at',
  end_time: 'end_at',
  created_at: 'created_at',
  updated_at: 'updated_at',
}

const kind: OwnedRowKind<CronFilter, CronSort> = {
  name: 'cron',
  columns: ['assistant_id', 'thread_id', 'enabled', 'next_at', 'wake_at', 'end_at', 'created_at',
    'updated_at', 'bytes', 'metadata', 'body', 'ahead_until'],
  columnOf,
  conditionsOf: ({ assistantId, threadId, enabled }) => ({
    sql: [...assistantId === undefined ? [] : ['assistant_id = :assistantId'],
      ...threadId === undefined ? [] : ["thread_id = :threadId AND thread_id <> ''"],
      ...enabled === undefined ? [] : ['enabled = :enabled']],
    values: { ...assistantId !== undefined && { assistantId },
      ...threadId !== undefined && { threadId },
      ...enabled !== undefined && { enabled: enabled ? 1 : 0 } },
  }),
}

/** Stores and searches rows of crons. Belongs to `Tables`. */
export class CronTable extends OwnedRowTable<CronFilter, CronSort> {
  readonly #database: Database
  readonly #uses: TenantUses
  readonly #bytes: Statement<readonly [bytes: number]>

  /** Without `numberOf`, SQLite numbers new rows. */
  constructor(database: Database, uses: TenantUses, numberOf?: NumberOf,
    unlisted?: UnlistedShards) {
    super(database, kind, numberOf, unlisted)
    this.#database = database
    this.#uses = uses
    this.#bytes = database.prepare('SELECT bytes FROM cron WHERE tenant = ? AND cron_id = ?')
  }

  /** Stores a row. Changes nothing if the stored row is newer. */
  put(entry: CronEntry): void {
    const { tenant, cronId, bytes } = entry
    const before = this.#bytes.get(tenant, cronId)
    const changed = this.write({ ...entry, id: cronId }, [entry.assistantId, entry.threadId,
      entry.enabled ? 1 : 0, entry.nextMs, entry.wakeMs, entry.endTimeMs, entry.createdAtMs,
      entry.updatedAtMs, bytes, entry.metadataJson, entry.body, entry.aheadUntilMs ?? 0])
    if (changed === undefined) return
    this.#uses.addCrons(changed, { crons: before ? 0 : 1, bytes: bytes - (before?.[0] ?? 0) })
  }

  /** Removes a row, unless the cron was made again with another branch. */
  remove(subject: PurgeSubject): void {
    const before = this.#bytes.get(subject.tenant, subject.id)
    const changed = this.erase(subject)
    if (before === undefined || changed === undefined) return
    this.#uses.addCrons(changed, { crons: -1, bytes: -before[0] })
  }

  /** Crons after the given place, the one that must be looked at first in front. */
  due({ atMs, no }: Pick<DueCron, 'atMs' | 'no'>, limit: number, nowMs: number): DueCron[] {
    const select = (sql: string, values: NamedValues) =>
      this.#database.prepare<readonly [string, string, number, number]>(sql).all(values)
        .map(([tenant, cronId, dueMs, number]) => ({ tenant, cronId, atMs: dueMs, no: number }))
    const ahead = atMs > aheadAtMs ? [] : select(
      `SELECT tenant, cron_id, ${aheadAtMs}, rowid FROM cron INDEXED BY cron_ahead_until
        WHERE ahead_until > 0 AND ${isAhead} AND (${aheadAtMs}, rowid) > (:at, :no) ${this.listed}
        ORDER BY rowid LIMIT :limit`,
      { now: nowMs, at: atMs, no, limit },
    )
    if (ahead.length === limit) return ahead
    return [...ahead, ...select(
      `SELECT tenant, cron_id, wake_at, rowid FROM cron INDEXED BY cron_wake_at
        WHERE wake_at > 0 AND (wake_at, rowid) > (:at, :no) AND NOT ${isAhead} ${this.listed}
        ORDER BY wake_at, rowid LIMIT :limit`,
      { now: nowMs, at: atMs, no, limit: limit - ahead.length },
    )]
  }
}
