/** Rows of threads and the index of their metadata: written so that a run touches few pages. */

import type { Database, Statement, Value } from './database.ts'
import { tokensOf } from './metadata-filter.ts'
import { ThreadCounts } from './thread-counts.ts'

/** A row as the writer takes it: what is searched for in columns, everything in the body. */
export interface ThreadEntry {
  readonly tenant: string
  readonly threadId: string
  readonly branchKey: Uint8Array
  readonly epoch: number
  readonly seq: number
  readonly status: string
  readonly hidden: boolean
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly stateUpdatedAtMs: number
  readonly metadataJson: string
  /** An encoded storage.v1.ThreadRow without its metadata. */
  readonly body: Uint8Array
}

/** A stored row: its metadata, and the rest of it encoded. */
export type StoredRow = readonly [metadataJson: string, body: Uint8Array]

/**
 * Most threads are idle, so the index of the status leaves them out: a run then changes pages that
 * the runs beside it change too. Hidden threads are in no index that a search reads.
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

type Columns = Readonly<Record<string, Value>>

type Known = readonly [no: number, epoch: number, seq: number, branchIsSame: number,
  status: string, hidden: number, createdAt: number, updatedAt: number, stateUpdatedAt: number,
  metadata: string]

export class ThreadTable {
  readonly counts: ThreadCounts
  readonly #database: Database
  readonly #find: Statement<Known>
  readonly #get: Statement<StoredRow>
  readonly #insert: Statement<readonly [no: number]>
  readonly #delete: Statement<never>
  readonly #putToken: Statement<never>
  readonly #deleteToken: Statement<never>
  readonly #unfinished: Statement<readonly [tenant: string, threadId: string]>

  constructor(database: Database) {
    this.#database = database
    this.counts = new ThreadCounts(database)
    this.#find = database.prepare(`SELECT no, epoch, seq, branch_key = ?, status, hidden,
      created_at, updated_at, state_updated_at, metadata
      FROM thread WHERE tenant = ? AND thread_id = ?`)
    this.#get = database.prepare(
      'SELECT metadata, body FROM thread WHERE tenant = ? AND thread_id = ?')
    this.#insert = database.prepare(`INSERT INTO thread VALUES
      (NULL, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) RETURNING no`)
    this.#delete = database.prepare('DELETE FROM thread WHERE no = ?')
    this.#putToken = database.prepare('INSERT INTO thread_meta VALUES (?, ?, ?, ?)')
    this.#deleteToken = database.prepare(`DELETE FROM thread_meta
      WHERE tenant = ? AND token = ? AND created_at = ? AND no = ?`)
    this.#unfinished = database.prepare(`
      SELECT tenant, thread_id FROM thread INDEXED BY thread_status
        WHERE hidden = 0 AND status <> 'idle' AND status = 'busy'
      UNION ALL
      SELECT tenant, thread_id FROM thread INDEXED BY thread_hidden WHERE hidden = 1`)
  }

  get(tenant: string, threadId: string): StoredRow | undefined {
    return this.#get.get(tenant, threadId)
  }

  unfinished(): { tenant: string; threadId: string }[] {
    return this.#unfinished.all().map(([tenant, threadId]) => ({ tenant, threadId }))
  }
}
