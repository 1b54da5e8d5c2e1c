/**
 * Rows of a kind of which a tenant has few, compared to threads: a search reads all of its tenant.
 * Searchable fields are columns, and the body has everything.
 */

import type { PurgeSubject } from '../../../checkpoint/index.ts'
import type { Database, NamedValues, Statement, Value } from '../file/database.ts'
import { idKey } from '../file/id-key.ts'
import type { MetadataConditions } from '../search/metadata-tokens.ts'
import type { NumberOf } from '../search/row-number.ts'
import { matching } from '../search/search-slice.ts'
import type { CandidateRow, Documents } from '../search/search-slice.ts'
import { pageOf } from '../search/stored-row.ts'
import type { RowPage, SizedRow, StoredRow } from '../search/stored-row.ts'
import type { UnlistedShards } from '../search/unlisted-shards.ts'

/** Characters of metadata of one tenant. With more, the writer thread does not read it. */
const longBytes = 256 * 1024

/** Conditions on rows: SQL whose parameters have names, with their values. */
export interface Conditions {
  readonly sql: readonly string[]
  readonly values: NamedValues
}

/** Table, columns and conditions by which one kind of rows differs from others. */
export interface OwnedRowKind<Filter, Sort extends string> {
  /** Name of the table, and of its column `<name>_id`. */
  readonly name: string
  /** Columns besides the tenant, the id, and those that tell which row is newer. */
  readonly columns: readonly string[]
  readonly columnOf: Readonly<Record<Sort, string>>
  /** Conditions besides those on the tenant and the metadata. */
  readonly conditionsOf: (filter: Filter) => Conditions
}

/** Parts of a filter that all kinds have. */
interface AnyFilter extends MetadataConditions {
  readonly tenant: string
}

/** Order and bounds of a page, besides the filter of its query. */
interface Page<Sort> {
  readonly sortBy: Sort
  readonly sortOrder: 'asc' | 'desc'
  readonly limit: number
  readonly offset: number
}

/** Names a row, and tells which of two is newer. */
export interface OwnedRow {
  readonly tenant: string
  readonly id: string
  readonly branchId: string
  readonly epoch: number
  readonly seq: number
}

/** A row that was written or removed. */
export interface ChangedRow {
  readonly tenant: string
  readonly id: string
  /** Null if SQLite gave it. */
  readonly no: number | null
}

/** Stores and searches the rows of one kind. */
export class OwnedRowTable<Filter extends AnyFilter, Sort extends string> {
  readonly #database: Database
  readonly #kind: OwnedRowKind<Filter, Sort>
  readonly #numberOf: NumberOf
  readonly #unlisted: UnlistedShards | undefined
  readonly #put: Statement<never>
  readonly #remove: Statement<never>
  readonly #get: Statement<StoredRow>
  readonly #row: Statement<StoredRow>

  /** Without `numberOf`, SQLite numbers new rows. */
  constructor(database: Database, kind: OwnedRowKind<Filter, Sort>, numberOf: NumberOf = () => null,
    unlisted?: UnlistedShards) {
    this.#database = database
    this.#kind = kind
    this.#numberOf = numberOf
    this.#unlisted = unlisted
    const { name } = kind
    const columns = ['branch_key', 'epoch', 'seq', ...kind.columns]
    this.#put = database.prepare(`
      INSERT INTO ${name} (rowid, tenant, ${name}_id, ${columns.join(', ')})
      VALUES (?, ?, ?${', ?'.repeat(columns.length)}) ON CONFLICT (tenant, ${name}_id)
      DO UPDATE SET ${columns.map((each) => `${each} = excluded.${each}`).join(', ')}
      WHERE excluded.epoch > epoch OR (excluded.epoch = epoch AND
        (excluded.seq >= seq OR excluded.branch_key <> branch_key))`)
    const ofOne = `${name} WHERE tenant = ? AND ${name}_id = ?`
    this.#remove = database.prepare(`DELETE FROM ${ofOne} AND branch_key = ?`)
    this.#get = database.prepare(`SELECT metadata, body FROM ${ofOne}`)
    this.#row = database.prepare(`SELECT metadata, body FROM ${name} WHERE rowid = ?`)
  }

  get(tenant: string, id: string): StoredRow | undefined {
    return this.#get.get(tenant, id)
  }

  /** Stores a row, with the values of its columns. Undefined if the stored row is newer. */
  write({ tenant, id, branchId, epoch, seq }: OwnedRow, values: readonly Value[]):
    | ChangedRow
    | undefined {
    const no = this.#numberOf(tenant, id)
    const { changes } = this.#put.run(no, tenant, id, idKey(branchId), epoch, seq, ...values)
    return changes > 0 ? { tenant, id, no } : undefined
  }

  /** Removes a row. Undefined if it was made again with another branch. */
  erase({ tenant, id, branch }: PurgeSubject): ChangedRow | undefined {
    const { changes } = this.#remove.run(tenant, id, idKey(branch.id))
    return changes > 0 ? { tenant, id, no: this.#numberOf(tenant, id) } : undefined
  }

  /**
   * True if the filter needs more documents than the writer thread should read, since writes wait
   * for that thread.
   */
  isLong(filter: Filter): boolean {
    if (filter.metadata === undefined && filter.allowed === undefined) return false
    const { sql, values } = this.#where(filter, { isRead: false })
    const sum = this.#database.prepare<readonly [number | null]>(
      `SELECT sum(octet_length(metadata)) FROM ${this.#kind.name} ${sql}`,
    )
    return (sum.get(values)![0] ?? 0) > longBytes
  }

  /** Searches like `search`, in slices. It stops after each. */
  *documents(query: Filter & Page<Sort>): Generator<void, Documents, void> {
    const { sql, values } = this.#where(query, { isRead: false })
    const candidates = this.#database.prepare<CandidateRow>(`
      SELECT rowid, octet_length(metadata) + length(body), metadata FROM ${this.#kind.name} ${sql}
      ${this.#order(query)}`)
    return yield* matching(candidates.iterate(values), query)
  }

  search(query: Filter & Page<Sort>): { page: RowPage<StoredRow>; total: number } {
    const { limit, offset } = query
    const { sql, values } = this.#where(query)
    const sizes = this.#database.prepare<SizedRow>(`
      SELECT rowid, octet_length(metadata) + length(body) FROM ${this.#kind.name} ${sql}
      ${this.#order(query)} LIMIT :limit OFFSET :offset`)
    const page = pageOf(sizes.all({ ...values, limit, offset }), (no) => this.#row.get(no)!)
    return { page, total: this.count(query) }
  }

  /** The rows with these numbers that still exist. */
  rows(numbers: readonly number[]): StoredRow[] {
    return numbers.map((no) => this.#row.get(no)).filter((row) => row !== undefined)
  }

  count(filter: Filter): number {
    const { sql, values } = this.#where(filter)
    return this.#database.prepare<[number]>(`SELECT count(*) FROM ${this.#kind.name} ${sql}`)
      .get(values)![0]
  }

  /** SQL that leaves out rows of shards that are not listed; it begins with AND, or is empty. */
  get listed(): string {
    return this.#unlisted?.condition('rowid') ?? ''
  }

  /** Without `isRead`, metadata is left to whoever reads the documents. */
  #where(filter: Filter, { isRead = true } = {}): { sql: string; values: NamedValues } {
    const { tenant, metadata, allowed } = filter
    const { sql, values } = this.#kind.conditionsOf(filter)
    const isAsked = isRead && (metadata !== undefined || allowed !== undefined)
    const all = ['tenant = :tenant', ...sql, ...isAsked ? ['holds(metadata, :wanted)'] : []]
    return { sql: `WHERE ${all.join(' AND ')} ${this.listed}`,
      values: { ...values, tenant,
        ...isAsked && { wanted: JSON.stringify({ metadata, allowed }) } } }
  }

  #order({ sortBy, sortOrder }: Page<Sort>): string {
    const { name, columnOf } = this.#kind
    const order = sortOrder === 'asc' ? 'ASC' : 'DESC'
    return `ORDER BY ${columnOf[sortBy]} ${order}, ${name}_id ${order}`
  }
}
