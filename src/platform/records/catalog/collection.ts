/**
 * A kind of record of all tenants: `collection` gives its reads and writes over catalogs, so that
 * the file of a record says only what differs.
 */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CatalogClient, CatalogName } from './catalog-client.ts'
import type { CatalogRecord, Collection, NewRecord, RecordChange } from './catalog-record.ts'
import { deleteChildren } from './delete-children.ts'
import type { RecordQuery } from './record-query.ts'

/** Properties of a collection: the form of its records, its bounds and its messages. */
export interface CollectionOptions<Value> {
  readonly name: Collection
  /** Reads a record. */
  readonly parse: (record: CatalogRecord, tenant: string) => Value
  /** Message of `not_found` for an id. */
  readonly missing?: (id: string) => string
  /** Records that a tenant may have, or those of one parent; with the message of `full`. */
  readonly max?: { readonly count: number; readonly of?: 'parent'; readonly full: string }
  /** By default, lists are sorted by the time of creation, the oldest first. */
  readonly sort?: Pick<RecordQuery, 'sortBy' | 'descending'>
}

/** A new record. Its name is its id if it has none, and its id is random. */
export interface NewValue {
  readonly id?: string
  readonly name?: string
  readonly parentId?: string
  readonly metadata?: object
  readonly body: object
}

/** A change of a record. Members of the body replace those that are there; absent ones stay. */
export interface ValueChange
  extends Pick<RecordChange, 'name' | 'parentId' | 'expected' | 'heldBytesAdded'> {
  readonly metadata?: object
  readonly body?: object
}

/** The records of a collection as values. All methods throw HeddleError. */
export interface Records<Value> {
  /** `not_found`. */
  get(tenant: string, id: string): Promise<Value>
  /** The records that exist. Others are left out. */
  some(tenant: string, ids: readonly string[]): Promise<readonly Value[]>
  /** A page of at most 100. */
  list(tenant: string, query: Partial<RecordQuery>): Promise<
    { readonly values: readonly Value[]; readonly total: number }
  >
  /** All records that match, up to `max` or a thousand. */
  all(tenant: string,
    query?: Omit<Partial<RecordQuery>, 'limit' | 'offset'>): Promise<readonly Value[]>
  /** The records with these names, made if there are none. */
  ensure(tenant: string, values: readonly NewValue[]): Promise<readonly Value[]>
  /** `full`; `exists` if the name or the id is taken, unless `ifExists` says what changes then. */
  create(tenant: string, value: NewValue, ifExists?: ValueChange): Promise<Value>
  /** `not_found`, `stale`; `exists` if the new name is taken. */
  change(tenant: string, id: string, change: ValueChange): Promise<Value>
  /** `not_found`. */
  delete(tenant: string, id: string): Promise<void>
  /** Deletes the records that belong to this one. */
  deleteOf(tenant: string, parentId: string): Promise<void>
}

/** Records of a page of a catalog. */
const pageRecords = 100
/** Records that `all` reads where there is no other bound. */
const allMax = 1_000

/** The records of one kind, of all tenants. */
export function collection<Value>(catalogs: CatalogClient, env: Pick<Env, 'nowMs' | 'uuid'>,
  options: CollectionOptions<Value>): Records<Value> {
  const { name: kind, parse, missing, max, sort } = options
  const catalogOf = (tenant: string): CatalogName => ({ tenant, collection: kind })
  const page = (tenant: string, query: Partial<RecordQuery>) =>
    catalogs.list(catalogOf(tenant), { sortBy: 'created', descending: false, ...sort, offset: 0,
      limit: pageRecords, ...query })
  const requireRoom = async (tenant: string, parentId: string) => {
    if (max === undefined) return
    const { total } = await page(tenant, { limit: 1,
      ...max.of === 'parent' && { parentIds: [parentId] } })
    if (total >= max.count) throw new HeddleError('full', max.full)
  }
  const newRecord = (
    { id = env.uuid(), name = id, parentId = '', metadata = {}, body }: NewValue,
  ): NewRecord => ({ id, name, parentId, orderMs: env.nowMs(),
    metadataJson: JSON.stringify(metadata), bodyJson: JSON.stringify(body) })
  return {
    get: async (tenant, id) => {
      const [record] = await catalogs.get(catalogOf(tenant), [id])
      if (record !== undefined) return parse(record, tenant)
      throw new HeddleError('not_found', missing?.(id))
    },
    some: async (tenant, ids) =>
      (await catalogs.get(catalogOf(tenant), ids)).map((record) => parse(record, tenant)),
    list: async (tenant, query) => {
      const { records, total } = await page(tenant, query)
      return { values: records.map((record) => parse(record, tenant)), total }
    },
    all: async (tenant, query) => {
      const values: Value[] = []
      for (let offset = 0; offset < (max?.count ?? allMax); offset += pageRecords) {
        const { records } = await page(tenant, { ...query, offset })
        values.push(...records.map((record) => parse(record, tenant)))
        if (records.length < pageRecords) break
      }
      return values
    },
    ensure: async (tenant, values) =>
      (await catalogs.ensure(catalogOf(tenant), values.map(newRecord)))
        .map((record) => parse(record, tenant)),
    create: async (tenant, value, ifExists) => {
      await requireRoom(tenant, value.parentId ?? '')
      const record = await catalogs.create(catalogOf(tenant), newRecord(value),
        ifExists && recordChange(ifExists))
      return parse(record, tenant)
    },
    change: async (tenant, id, change) =>
      parse(await catalogs.change(catalogOf(tenant), id, recordChange(change)), tenant),
    delete: (tenant, id) => catalogs.delete(catalogOf(tenant), id),
    deleteOf: (tenant, parentId) => deleteChildren(catalogs, catalogOf(tenant), parentId),
  }
}

function recordChange({ metadata, body, ...rest }: ValueChange): RecordChange {
  return { ...rest, ...metadata && { metadataJson: JSON.stringify(metadata) },
    ...body && { bodyJson: JSON.stringify(body) } }
}
