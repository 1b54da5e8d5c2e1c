/**
 * Rows of threads and the index of their metadata, arranged so that a run touches few pages.
 *
 * This is no `OwnedRowTable`: a tenant has many threads and each run changes one, so only columns
 * that differ are written, and searches read indexes and counts instead of all rows.
 */

import type { PurgeSubject } from '../../../checkpoint/index.ts'
import type { DueThread, UnfinishedThread } from '../../../search/index.ts'
import type { Database, Statement, Value } from '../file/database.ts'
import { idKey } from '../file/id-key.ts'
import { ExpiringThreads } from '../search/expiring-threads.ts'
import type { Expiry } from '../search/expiring-threads.ts'
import { tokensOf } from '../search/metadata-tokens.ts'
import type { NumberOf } from '../search/row-number.ts'
import type { StoredRow } from '../search/stored-row.ts'
import { ThreadCounts } from '../search/thread-counts.ts'
import { TokenCounts } from '../search/token-counts.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'
import { WordIndex } from '../search/word-index.ts'
import { TenantUses } from './tenant-uses.ts'
import type { CountedThread, ThreadUse } from './tenant-uses.ts'

/** A row as the writer takes it. Searchable fields are columns, and the body has everything. */
export interface ThreadEntry {
  readonly tenant: string
  readonly threadId: string
  readonly branchId: string
  readonly epoch: number
  readonly seq: number
  readonly status: string
  readonly hidden: boolean
  /** True if a webhook of one of its runs is still to be sent. */
  readonly owes: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly stateUpdatedAtMs: number
  readonly metadataJson: string
  /** An encoded storage.v1.ThreadRow without its metadata. */
  readonly body: Uint8Array
  /** Missing if it lives until it is deleted. */
  readonly expiry?: Expiry
  /** True if it is known what a human said first. */
  readonly opens?: boolean
  /** Missing from what an older program left in its write-ahead file. */
  readonly counted?: ThreadUse
}

/**
 * Tables of threads. Most threads are idle, so the index of the status leaves them out. A run then
 * changes pages that other runs change too. Hidden threads are in no index that a search reads.
 */
export const threadSchema = `
  CREATE TABLE thread (
    no INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    branch_key BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    status TEXT NOT NULL,
    hidden INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    state_updated_at INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    body BLOB NOT NULL
  );
  CREATE UNIQUE INDEX thread_thread_id ON thread (tenant, thread_id);
  CREATE INDEX thread_created_at ON thread (tenant, created_at) WHERE hidden = 0;
  CREATE INDEX thread_updated_at ON thread (tenant, updated_at) WHERE hidden = 0;
  CREATE INDEX thread_state_updated_at ON thread (tenant, state_updated_at) WHERE hidden = 0;
  CREATE INDEX thread_status ON thread (status, tenant, created_at)
    WHERE hidden = 0 AND status <> 'idle';
  CREATE INDEX thread_hidden ON thread (hidden) WHERE hidden = 1;
  CREATE TABLE thread_meta (
    tenant TEXT NOT NULL,
    token TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    no INTEGER NOT NULL,
    PRIMARY KEY (tenant, token, created_at, no)
  ) WITHOUT ROWID;
`

/** Table of threads that owe something. They are few, so most writes do not touch it. */
export const owingSchema = 'CREATE TABLE IF NOT EXISTS owing (no INTEGER PRIMARY KEY);'

/** Stored row of a thread, without its keys and body. */
interface Known
  extends
    Omit<ThreadEntry,
      'tenant' | 'threadId' | 'branchId' | 'body' | 'counted' | 'expiry' | 'opens'> {
  readonly no: number
  /** True if the stored branch is the one that was asked about. */
  readonly sameBranch: boolean
  readonly expires: boolean
  /** True if its opening was noted. */
  readonly opened: boolean
}

const knownColumns = `no, epoch, seq, status, hidden, created_at, updated_at, state_updated_at,
  metadata, no IN (SELECT no FROM owing), no IN (SELECT no FROM expiring),
  no IN (SELECT no FROM opened)`
type KnownColumns = readonly [sameBranch: number, no: number, epoch: number, seq: number,
  status: string, hidden: number, createdAtMs: number, updatedAtMs: number,
  stateUpdatedAtMs: number, metadataJson: string, owes: number, expires: number, opened: number]

/** Columns that are written only if they differ, with their values. */
const comparedColumns = [['status', 'status'], ['hidden', 'hidden'], ['created_at', 'createdAtMs'],
  ['updated_at', 'updatedAtMs'], ['state_updated_at', 'stateUpdatedAtMs'], ['metadata',
  'metadataJson']] as const

/** SQL condition for threads that have something to do now. Others wait until a run is due. */
export const isAwake = 'no NOT IN (SELECT no FROM due)'

/** Values by which search indexes list a row; null for a hidden one. */
type Shown = Pick<ThreadEntry, 'status' | 'createdAtMs' | 'metadataJson'>

/** Stores and finds rows of threads. Belongs to `Tables`; `Lookup` has one that only reads. */
export class ThreadTable {
  readonly counts: ThreadCounts
  readonly tokenCounts: TokenCounts
  readonly uses: TenantUses
  readonly expiring: ExpiringThreads
  readonly words: WordIndex
  readonly #database: Database
  readonly #numberOf: NumberOf
  readonly #unlisted: UnlistedShards | undefined
  readonly #find: Statement<KnownColumns>
  readonly #get: Statement<StoredRow>
  readonly #insert: Statement<never>
  readonly #delete: Statement<never>
  readonly #putToken: Statement<never>
  readonly #deleteToken: Statement<never>
  readonly #owe: Statement<never>
  readonly #settle: Statement<never>
  readonly #unfinished: Statement<readonly [tenant: string, threadId: string]>

  /** Without `numberOf`, SQLite numbers new rows. */
  constructor(database: Database, numberOf: NumberOf = () => null, unlisted?: UnlistedShards) {
    this.#database = database
    this.#numberOf = numberOf
    this.#unlisted = unlisted
    this.counts = new ThreadCounts(database, unlisted)
    this.tokenCounts = new TokenCounts(database, unlisted)
    this.uses = new TenantUses(database, unlisted)
    this.expiring = new ExpiringThreads(database, unlisted)
    this.words = new WordIndex(database)
    this.#find = database.prepare(`SELECT branch_key = ?, ${knownColumns}
      FROM thread WHERE tenant = ? AND thread_id = ?`)
    this.#get = database.prepare(
      'SELECT metadata, body FROM thread WHERE tenant = ? AND thread_id = ?',
    )
    this.#insert = database.prepare(`INSERT INTO thread VALUES
      (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`)
    this.#delete = database.prepare('DELETE FROM thread WHERE no = ?')
    this.#putToken = database.prepare('INSERT INTO thread_meta VALUES (?, ?, ?, ?)')
    this.#deleteToken = database.prepare(`DELETE FROM thread_meta
      WHERE tenant = ? AND token = ? AND created_at = ? AND no = ?`)
    this.#owe = database.prepare('INSERT INTO owing VALUES (?)')
    this.#settle = database.prepare('DELETE FROM owing WHERE no = ?')
    this.#unfinished = database.prepare(`
      SELECT tenant, thread_id FROM thread INDEXED BY thread_status
        WHERE hidden = 0 AND status <> 'idle' AND status = 'busy' AND ${isAwake}
      UNION ALL
      SELECT tenant, thread_id FROM thread INDEXED BY thread_hidden
        WHERE hidden = 1 AND ${isAwake}
      UNION
      SELECT tenant, thread_id FROM owing CROSS JOIN thread USING (no)`)
  }

  get(tenant: string, threadId: string): StoredRow | undefined {
    return this.#get.get(tenant, threadId)
  }

  /** Threads of all tenants that are busy or hidden and awake, and those that owe something. */
  unfinished(): UnfinishedThread[] {
    return this.#unfinished.all().map(([tenant, threadId]) => ({ tenant, threadId }))
  }

  /** Sleeping threads after the given place, the one that is due first in front. */
  due(after: Pick<DueThread, 'atMs' | 'no'>, limit: number): DueThread[] {
    return [...this.uses.due(after, limit), ...this.expiring.due(after, limit)]
      .toSorted((a, b) => a.atMs - b.atMs || a.no - b.no).slice(0, limit)
  }

  /** Stores a row. Changes nothing if the stored row is newer. */
  put(entry: ThreadEntry): void {
    const { branchId, tenant, threadId } = entry
    const found = this.#find.get(idKey(branchId), tenant, threadId)
    if (!found) return this.add(entry)
    const known = knownIn(found)
    if (!isOlder(entry, known)) this.#change(entry, known)
  }

  /** Like `put`, for a thread that has no row yet. */
  add(entry: ThreadEntry): void {
    const { tenant, threadId, hidden } = entry
    const number = this.#numberOf(tenant, threadId)
    this.#count(tenant, number, null, shownOf(entry))
    const { lastInsertRowid } = this.#insert.run(number, tenant, threadId, idKey(entry.branchId),
      entry.epoch, entry.seq, entry.status, Number(hidden), entry.createdAtMs, entry.updatedAtMs,
      entry.stateUpdatedAtMs, entry.metadataJson, entry.body)
    this.#index(tenant, Number(lastInsertRowid), null, shownOf(entry))
    if (entry.owes) this.#owe.run(lastInsertRowid)
    if (entry.expiry) this.expiring.set(Number(lastInsertRowid), entry.expiry)
    this.#use(tenant, Number(lastInsertRowid), entry)
    if (hidden) return
    if (entry.opens) this.words.open(Number(lastInsertRowid))
    this.words.note(Number(lastInsertRowid))
  }

  /** Removes the row, unless it belongs to another branch. */
  remove({ tenant, id, branch }: PurgeSubject): void {
    const found = this.#find.get(idKey(branch.id), tenant, id)
    const known = found && knownIn(found)
    if (known?.sameBranch) this.#remove(tenant, known)
  }

  /**
   * Adds rows of a shard to the counts (1), or takes them out (-1). Call when the shard is listed
   * or unlisted. `rows` is SQL: a table and a condition.
   */
  recount(change: 1 | -1, rows: string, ...values: Value[]): void {
    const all = this.#database.prepare<readonly [tenant: string, status: string, count: number]>(
      `SELECT tenant, status, count(*) FROM ${rows} AND hidden = 0 GROUP BY tenant, status`,
    )
    const counted = all.all(...values)
    for (const [tenant, status, count] of counted) this.counts.add(tenant, status, change * count)
    if (counted.length > 0) this.tokenCounts.forget()
  }

  /** Counts what every tenant uses anew. Needed after an older program, which does not count. */
  countUses(useOf: (body: Uint8Array) => ThreadUse): void {
    this.uses.reset()
    const all = this.#database.prepare<readonly [tenant: string, no: number, body: Uint8Array]>(
      "SELECT tenant, no, body FROM thread WHERE hidden = 1 OR (status = 'busy' AND hidden = 0)",
    )
    for (const [tenant, no, body] of all.all()) {
      this.uses.set({ tenant, no, isCounted: true }, useOf(body))
    }
  }

  /** Removes all rows that `rows` selects. It is SQL: a table and a condition. */
  removeAll(rows: string, ...values: Value[]): void {
    const all = this.#database.prepare<readonly [tenant: string, ...KnownColumns]>(
      `SELECT tenant, 1, ${knownColumns} FROM ${rows}`,
    )
    for (const [tenant, ...found] of all.all(...values)) this.#remove(tenant, knownIn(found))
  }

  #remove(tenant: string, known: Known): void {
    const { no, owes, expires } = known
    if (owes) this.#settle.run(no)
    if (expires) this.expiring.set(no, undefined)
    this.uses.drop(this.#counted(tenant, no))
    this.#count(tenant, no, shownOf(known), null)
    this.#index(tenant, no, shownOf(known), null)
    this.#delete.run(no)
    if (known.opened || !known.hidden) this.words.remove(no)
  }

  /** Writes only the columns that differ, so that indexes of the others are not touched. */
  #change(entry: ThreadEntry, known: Known): void {
    const { no, owes, expires } = known
    const { tenant } = entry
    const [before, after] = [shownOf(known), shownOf(entry)]
    this.#count(tenant, no, before, after)
    const columns = ['epoch', 'seq', 'body']
    const values: Value[] = [entry.epoch, entry.seq, entry.body]
    const set = (column: string, value: Value | boolean) => {
      columns.push(column)
      values.push(typeof value === 'boolean' ? Number(value) : value)
    }
    if (!known.sameBranch) set('branch_key', idKey(entry.branchId))
    for (const [column, name] of comparedColumns) {
      if (entry[name] !== known[name]) set(column, entry[name])
    }
    this.#database.prepare(`UPDATE thread SET ${columns.map((each) => `${each} = ?`).join(', ')}
      WHERE no = ?`).run(...values, no)
    this.#index(tenant, no, before, after)
    if (entry.owes && !owes) this.#owe.run(no)
    if (!entry.owes && owes) this.#settle.run(no)
    if (entry.expiry || expires) this.expiring.set(no, entry.expiry)
    this.#use(tenant, no, entry)
    this.#noteWords(entry, known)
  }

  /** Most changes of a thread leave its words as they are. */
  #noteWords({ hidden, opens = false, metadataJson }: ThreadEntry, known: Known): void {
    if (hidden && known.hidden) return
    const isOpening = opens && !known.opened
    if (isOpening) this.words.open(known.no)
    if (isOpening || hidden !== known.hidden || metadataJson !== known.metadataJson) {
      this.words.note(known.no)
    }
  }

  #use(tenant: string, no: number, { counted }: ThreadEntry): void {
    if (counted) this.uses.set(this.#counted(tenant, no), counted)
  }

  #counted(tenant: string, no: number): CountedThread {
    return { tenant, no, isCounted: !this.#isUnlisted(no) }
  }

  /** Updates the counts. Call before the row changes. The number is null if there is no row. */
  #count(tenant: string, no: number | null, before: Shown | null, after: Shown | null): void {
    if (before?.status === after?.status || this.#isUnlisted(no)) return
    if (before) this.counts.add(tenant, before.status, -1)
    if (after) this.counts.add(tenant, after.status, 1)
  }

  #isUnlisted(no: number | null): boolean {
    return no !== null && this.#unlisted?.hides(no) === true
  }

  /** Moves the index entries of a row from `before` to `after`. */
  #index(tenant: string, no: number, before: Shown | null, after: Shown | null): void {
    const inPlace = before?.createdAtMs === after?.createdAtMs
    if (inPlace && before?.metadataJson === after?.metadataJson) return
    const [old, tokens] = [tokensIn(before), tokensIn(after)]
    const count = (token: string, change: 1 | -1) => {
      if (!this.#isUnlisted(no)) this.tokenCounts.add(tenant, token, change)
    }
    for (const token of old) {
      if (inPlace && tokens.has(token)) continue
      this.#deleteToken.run(tenant, token, before!.createdAtMs, no)
      count(token, -1)
    }
    for (const token of tokens) {
      if (inPlace && old.has(token)) continue
      this.#putToken.run(tenant, token, after!.createdAtMs, no)
      count(token, 1)
    }
  }
}

/** True for an older row. Positions compare within a branch; between branches the epoch decides. */
function isOlder(entry: ThreadEntry, { sameBranch, epoch, seq }: Known): boolean {
  if (entry.epoch !== epoch) return entry.epoch < epoch
  return sameBranch && entry.seq < seq
}

function tokensIn(shown: Shown | null): ReadonlySet<string> {
  return new Set(shown && tokensOf(shown.metadataJson))
}

function shownOf(row: ThreadEntry | Known): Shown | null {
  return row.hidden ? null : row
}

function knownIn(
  [sameBranch, no, epoch, seq, status, hidden, createdAtMs, updatedAtMs, stateUpdatedAtMs,
    metadataJson, owes, expires, opened]: KnownColumns,
): Known {
  return { no, sameBranch: sameBranch === 1, epoch, seq, status, hidden: hidden === 1, createdAtMs,
    updatedAtMs, stateUpdatedAtMs, metadataJson, owes: owes === 1, expires: expires === 1,
    opened: opened === 1 }
}
