/** Rows of assistants. They are few compared to threads, so a search reads all of its tenant. */

import type { PurgeSubject } from '../../../checkpoint/index.ts'
import type { AssistantFilter, AssistantQuery, AssistantSort } from '../../../search/index.ts'
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
export interface AssistantEntry {
  readonly tenant: string
  readonly assistantId: string
  readonly branchId: string
  readonly epoch: number
  readonly seq: number
  readonly graphId: string
  readonly name: string
  readonly createdAtMs: number
  readonly updatedAtMs: number
  readonly metadataJson: string
  /** An encoded storage.v1.AssistantRow without its metadata. */
  readonly body: Uint8Array
  /** Bytes of its log. Missing from what an older program left in its write-ahead file. */
  readonly bytes?: number
}

/** Table of assistants. `folded_name` is the name without upper and lower case. */
export const assistantSchema = `
  CREATE TABLE assistant (
    tenant TEXT NOT NULL,
    assistant_id TEXT NOT NULL,
    branch_key BLOB NOT NULL,
    epoch INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    graph_id TEXT NOT NULL,
    name TEXT NOT NULL,
    folded_name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    metadata TEXT NOT NULL,
    body BLOB NOT NULL
  );
  CREATE UNIQUE INDEX assistant_assistant_id ON assistant (tenant, assistant_id);
`

/** Characters of metadata of one tenant. With more, the writer thread does not read it. */
const longBytes = 256 * 1024

const columnOf: Readonly<Record<AssistantSort, string>> = {
  assistant_id: 'assistant_id',
  graph_id: 'graph_id',
  name: 'name',
  created_at: 'created_at',
  updated_at: 'updated_at',
}

/** Stores and searches rows of assistants. Belongs to `Tables`. */
export class AssistantTable {
  readonly #database: Database
  readonly #numberOf: NumberOf
  readonly #unlisted: UnlistedShards | undefined
  readonly #put: Statement<never>
  readonly #remove: Statement<never>
  readonly #get: Statement<StoredRow>
  readonly #uses: TenantUses
  readonly #row: Statement<StoredRow>

  /** Without `numberOf`, SQLite numbers new rows. */
  constructor(database: Database, uses: TenantUses, numberOf: NumberOf = () => null,
    unlisted?: UnlistedShards) {
    this.#database = database
    this.#uses = uses
    this.#numberOf = numberOf
    this.#unlisted = unlisted
    const columns = ['branch_key', 'epoch', 'seq', 'graph_id', 'name', 'folded_name', 'created_at',
      'updated_at', 'metadata', 'body']
    this.#put = database.prepare(`
      INSERT INTO assistant (rowid, tenant, assistant_id, ${columns.join(', ')})
      VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (tenant, assistant_id)
      DO UPDATE SET ${columns.map((each) => `${each} = excluded.${each}`).join(', ')}
      WHERE excluded.epoch > epoch OR (excluded.epoch = epoch AND
        (excluded.seq >= seq OR excluded.branch_key <> branch_key))`)
    this.#remove = database.prepare(
      'DELETE FROM assistant WHERE tenant = ? AND assistant_id = ? AND branch_key = ?',
    )
    this.#row = database.prepare('SELECT metadata, body FROM assistant WHERE rowid = ?')
    this.#get = database.prepare(
      'SELECT metadata, body FROM assistant WHERE tenant = ? AND assistant_id = ?',
    )
  }

  get(tenant: string, assistantId: string): StoredRow | undefined {
    return this.#get.get(tenant, assistantId)
  }

  /** Stores a row. Changes nothing if the stored row is newer. */
  put(entry: AssistantEntry): void {
    const { tenant, assistantId, branchId, epoch, seq, graphId, name } = entry
    const number = this.#numberOf(tenant, assistantId)
    const { changes } = this.#put.run(number, tenant, assistantId, idKey(branchId), epoch, seq,
      graphId, name, fold(name), entry.createdAtMs, entry.updatedAtMs, entry.metadataJson,
      entry.body)
    if (changes > 0) this.#uses.setAssistant({ tenant, assistantId, no: number }, entry.bytes ?? 0)
  }

  /** Removes a row, unless the assistant was made again with another branch. */
  remove({ tenant, id, branch }: PurgeSubject): void {
    const { changes } = this.#remove.run(tenant, id, idKey(branch.id))
    if (changes > 0) {
      this.#uses.setAssistant({ tenant, assistantId: id, no: this.#numberOf(tenant, id) }, 0)
    }
  }

  /**
   * True if the filter needs more documents than the writer thread should read, since writes wait
   * for that thread.
   */
  isLong(filter: AssistantFilter): boolean {
    const { metadata, ...others } = filter
    if (metadata === undefined) return false
    const { sql, values } = this.#conditionsOf(others)
    const sum = this.#database.prepare<readonly [number | null]>(
      `SELECT sum(octet_length(metadata)) FROM assistant ${sql}`,
    )
    return (sum.get(values)![0] ?? 0) > longBytes
  }

  /** Searches like `search`, in slices. It stops after each. */
  *documents(query: AssistantQuery): Generator<void, Documents, void> {
    const { metadata = {}, ...others } = query
    const { sortBy, limit, offset } = query
    const { sql, values } = this.#conditionsOf(others)
    const order = query.sortOrder === 'asc' ? 'ASC' : 'DESC'
    const candidates = this.#database.prepare<CandidateRow>(`
      SELECT rowid, octet_length(metadata) + length(body), metadata FROM assistant ${sql}
      ORDER BY ${columnOf[sortBy]} ${order}, assistant_id ${order}`)
    return yield* matching(candidates.iterate(values), { metadata, limit, offset })
  }

  search(query: AssistantQuery): { page: RowPage<StoredRow>; total: number } {
    const { sortBy, limit, offset } = query
    const { sql, values } = this.#conditionsOf(query)
    const order = query.sortOrder === 'asc' ? 'ASC' : 'DESC'
    const sizes = this.#database.prepare<SizedRow>(`
      SELECT rowid, octet_length(metadata) + length(body) FROM assistant ${sql}
      ORDER BY ${columnOf[sortBy]} ${order}, assistant_id ${order} LIMIT :limit OFFSET :offset`)
    const page = pageOf(sizes.all({ ...values, limit, offset }), (no) => this.#row.get(no)!)
    return { page, total: this.count(query) }
  }

  /** The rows with these numbers that still exist. */
  rows(numbers: readonly number[]): StoredRow[] {
    return numbers.map((no) => this.#row.get(no)).filter((row) => row !== undefined)
  }

  count(filter: AssistantFilter): number {
    const { sql, values } = this.#conditionsOf(filter)
    const count = this.#database.prepare<[number]>(`SELECT count(*) FROM assistant ${sql}`)
    return count.get(values)![0]
  }

  #conditionsOf(filter: AssistantFilter): { sql: string; values: NamedValues } {
    const { sql, values } = conditionsOf(filter)
    return { sql: `${sql} ${this.#unlisted?.condition('rowid') ?? ''}`, values }
  }
}

function conditionsOf(filter: AssistantFilter): { sql: string; values: NamedValues } {
  const { tenant, graphId, name, metadata } = filter
  const conditions = ['tenant = :tenant']
  const values: NamedValues = { tenant }
  if (graphId !== undefined) {
    conditions.push('graph_id = :graphId')
    values['graphId'] = graphId
  }
  if (name !== undefined) {
    conditions.push('instr(folded_name, :name) > 0')
    values['name'] = fold(name)
  }
  if (metadata !== undefined) {
    conditions.push('holds(metadata, :metadata)')
    values['metadata'] = JSON.stringify(metadata)
  }
  return { sql: `WHERE ${conditions.join(' AND ')}`, values }
}

/** The name without upper and lower case. */
function fold(name: string): string {
  return name.toUpperCase().toLowerCase()
}
