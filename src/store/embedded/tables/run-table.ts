/** Rows of runs, by id and by thread. */

import { RunRow } from '../../../../proto/gen/storage/v1/row.ts'
import { bytesOf } from '../../../checkpoint/index.ts'
import type { RunQuery, RunText } from '../../../search/index.ts'
import { PageBytes } from '../../page-bytes.ts'
import { withTexts } from '../../run-texts.ts'
import type { Database, Statement } from '../file/database.ts'
import { pageOf } from '../search/stored-row.ts'
import type { RowPage, SizedRow } from '../search/stored-row.ts'

/** A row as the writer takes it. Searchable fields are columns, and the body has everything. */
export interface RunEntry {
  readonly tenant: string
  readonly threadId: string
  readonly runId: string
  readonly createdAtMs: number
  readonly status: string
  /** An encoded storage.v1.RunRow. */
  readonly body: Uint8Array
}

/**
 * Table of runs. The run id comes first in its key: ids grow with time, so new runs of all threads
 * fall into the same few pages. The index of the status leaves out successful runs, which are most.
 */
export const runSchema = `
  CREATE TABLE run (
    no INTEGER PRIMARY KEY,
    tenant TEXT NOT NULL,
    thread_id TEXT NOT NULL,
    run_id TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    status TEXT NOT NULL,
    body BLOB NOT NULL
  );
  CREATE UNIQUE INDEX run_id ON run (run_id, thread_id, tenant);
  CREATE INDEX run_created_at ON run (tenant, thread_id, created_at);
  CREATE INDEX run_status ON run (tenant, thread_id, status, created_at)
    WHERE status <> 'success';
`

/** Indexes for searches of a tenant's runs. Few runs end in a way that the second one lists. */
export const runTimeSchema = `
  CREATE INDEX run_time ON run (tenant, created_at);
  CREATE INDEX run_failed ON run (tenant, status, created_at)
    WHERE status IN ('error', 'timeout', 'interrupted');
`

/** Bytes up to which a row is passed on as it is. */
const smallBytes = 16 * 1024

/** Bytes from which on reading a row would block the main thread too long. */
const longBytes = 1024 * 1024

type Bodies = Statement<readonly [body: Uint8Array]>

/** Stores and finds rows of runs. Belongs to `Tables`; `Lookup` has one that only reads. */
export class RunTable {
  readonly #put: Statement<never>
  readonly #remove: Statement<never>
  readonly #removeAll: Statement<never>
  readonly #get: Bodies
  readonly #body: Bodies
  readonly #list: Statement<SizedRow>
  readonly #listSuccess: Statement<SizedRow>
  readonly #listStatus: Statement<SizedRow>
  readonly #getShort: Statement<readonly [body: Uint8Array | null]>

  constructor(database: Database) {
    const body = 'SELECT body FROM run'
    const ofThread = 'WHERE tenant = :tenant AND thread_id = :threadId'
    const page = 'ORDER BY created_at DESC, no DESC LIMIT :limit OFFSET :offset'
    const sizes = 'SELECT no, length(body) FROM run'
    const byTime = `${sizes} INDEXED BY run_created_at ${ofThread}`
    const byStatus = `${sizes} INDEXED BY run_status ${ofThread} AND status <> 'success'`
    this.#put = database.prepare(`INSERT INTO run VALUES (NULL, ?, ?, ?, ?, ?, ?)
      ON CONFLICT (run_id, thread_id, tenant)
      DO UPDATE SET status = excluded.status, body = excluded.body`)
    this.#remove = database.prepare(
      'DELETE FROM run WHERE run_id = ? AND thread_id = ? AND tenant = ?',
    )
    this.#removeAll = database.prepare('DELETE FROM run WHERE tenant = ? AND thread_id = ?')
    this.#get = database.prepare(`${body} WHERE run_id = ? AND thread_id = ? AND tenant = ?`)
    this.#body = database.prepare(`${body} WHERE no = ?`)
    this.#getShort = database.prepare(`SELECT iif(length(body) <= ${longBytes}, body, NULL)
      FROM run WHERE run_id = ? AND thread_id = ? AND tenant = ?`)
    this.#list = database.prepare(`${byTime} ${page}`)
    this.#listSuccess = database.prepare(`${byTime} AND status = 'success' ${page}`)
    this.#listStatus = database.prepare(`${byStatus} AND status = :status ${page}`)
  }

  put(entry: RunEntry): void {
    const { tenant, threadId, runId, createdAtMs, status, body } = entry
    this.#put.run(tenant, threadId, runId, createdAtMs, status, body)
  }

  remove(tenant: string, threadId: string, runId: string): void {
    this.#remove.run(runId, threadId, tenant)
  }

  /** Removes the rows of a thread's runs. */
  removeAll(tenant: string, threadId: string): void {
    this.#removeAll.run(tenant, threadId)
  }

  get(tenant: string, threadId: string, runId: string): Uint8Array | undefined {
    return this.#get.get(runId, threadId, tenant)?.[0]
  }

  /** The row; null for a long one, which is not read, and undefined if there is none. */
  getShort(tenant: string, threadId: string, runId: string): Uint8Array | null | undefined {
    const row = this.#getShort.get(runId, threadId, tenant)
    return row && row[0]
  }

  list({ tenant, threadId, status, limit, offset, texts }: RunQuery): RowPage<Uint8Array> {
    const rows = status === undefined
      ? this.#list
      : status === 'success'
      ? this.#listSuccess
      : this.#listStatus
    const page = { tenant, threadId, limit, offset, status: status ?? null }
    return pageOf(rows.all(page), (no) => this.#read(no, texts)!)
  }

  /** The rows with these numbers that still exist, with the wanted texts. */
  rows(numbers: readonly number[], texts: readonly RunText[] | undefined): Uint8Array[] {
    return numbers.map((no) => this.#read(no, texts)).filter((body) => body !== undefined)
  }

  #read(no: number, texts: readonly RunText[] | undefined): Uint8Array | undefined {
    const body = this.#body.get(no)?.[0]
    const isWanted = texts === undefined || texts.includes('kwargsJson')
    // Mostly only what a client sent is long. If that is wanted, the rest costs nothing.
    if (body === undefined || body.byteLength <= smallBytes || isWanted) return body
    return bytesOf(RunRow, withTexts(RunRow.decode(body), new PageBytes(), texts))
  }
}
