/** The records of deletions of traces, and the list of those that are woken after a restart. */

import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient, CatalogName } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import type { Uuid } from '../../spans/span.ts'
import { deletionOf, isOpen, unbegun } from './trace-deletion.ts'
import type { DeletionProgress, DeletionRequest, TraceDeletion } from './trace-deletion.ts'

/** A deletion of any tenant. */
export interface DeletionName {
  readonly tenant: string
  readonly id: Uuid
}

/** The records of deletions. All methods throw HeddleError. */
export interface DeletionRecords {
  get(name: DeletionName): Promise<TraceDeletion | undefined>
  /** Of the open ones of a tenant, the one that was asked for first. */
  oldestOpen(tenant: string): Promise<TraceDeletion | undefined>
  /** Those of a tenant, the newest first. */
  list(tenant: string): Promise<readonly TraceDeletion[]>
  /** It is found after a crash from when this resolved. `full` if too many are open. */
  add(name: DeletionName, request: DeletionRequest, arrivedBeforeUs: number): Promise<TraceDeletion>
  /** `stale` if it was changed since `before`. */
  save(name: DeletionName, before: DeletionProgress,
    after: DeletionProgress): Promise<TraceDeletion>
  /** Open ones, and a few that ended lately, of all tenants: a page, after the given place. */
  listed(
    after?: CatalogRecord,
  ): Promise<readonly (DeletionName & { readonly place: CatalogRecord })[]>
  unlist(name: DeletionName): Promise<void>
}

/** Deletions of a tenant that may be open, and that are kept: they are one page. */
export const [openMax, keptMax] = [10, 100]

const pageRecords = 100
/** Prefix of the names of open deletions. One that has ended has its id as its name. */
const openName = 'open '
/** No tenant has this name. */
const everybody: CatalogName = { tenant: '*', collection: 'trace_deletion_wake' }

/** The records in catalogs. */
export function deletionRecords(catalogs: CatalogClient,
  env: { nowMs(): number }): DeletionRecords {
  const unlist = ({ id }: DeletionName) => catalogs.delete(everybody, id).catch(ignoreNotFound)
  return {
    get: async ({ tenant, id }) => {
      const [record] = await catalogs.get(catalogOf(tenant), [id])
      return record && deletionOf(record)
    },
    oldestOpen: async (tenant) => {
      const { records: [record] } = await catalogs.list(catalogOf(tenant), { sortBy: 'created',
        descending: false, limit: 1, offset: 0, nameContains: openName })
      return record && deletionOf(record)
    },
    list: async (tenant) => {
      const { records } = await catalogs.list(catalogOf(tenant), { sortBy: 'created',
        descending: true, limit: keptMax, offset: 0 })
      return records.map(deletionOf)
    },
    add: async (name, request, arrivedBeforeUs) => {
      await forgetOldest(catalogs, name.tenant)
      const { tenant, id } = name
      // First the list: what is only there is not acknowledged, and does nothing.
      await catalogs.create(everybody, { id, name: `${tenant}\n${id}`, orderMs: 0, parentId: '',
        metadataJson: '{}', bodyJson: '{}' })
      const made = await addOpen(catalogs, name, { orderMs: env.nowMs(), parentId: '',
        metadataJson: '{}', bodyJson: JSON.stringify({ ...request, arrivedBeforeUs, ...unbegun }) })
      if (made !== undefined) return deletionOf(made)
      await unlist(name)
      throw new HeddleError('full',
        `There may be ${openMax} deletions that go on: wait for one, or cancel one.`)
    },
    save: async (name, before, after) => {
      const { tenant, id } = name
      const saved = await catalogs.change(catalogOf(tenant), id, { bodyJson: JSON.stringify(after),
        expected: { version: before.version }, ...!isOpen(after) && { name: id } })
      if (!isOpen(after)) await unlist(name)
      return deletionOf(saved)
    },
    listed: async (after) => {
      const { records } = await catalogs.list(everybody, { sortBy: 'created', descending: false,
        limit: pageRecords, offset: 0, ...after && { after } })
      return records.map((place) => {
        const [tenant = '', id = ''] = place.name.split('\n')
        return { tenant, id, place }
      })
    },
    unlist,
  }
}

/** Names are taken once: an open deletion has one of a few. Undefined if all are taken. */
async function addOpen(catalogs: CatalogClient, { tenant, id }: DeletionName,
  rest: Omit<Parameters<CatalogClient['create']>[1], 'id' | 'name'>
): Promise<
  CatalogRecord | undefined
> {
  for (let no = 0; no < openMax; no++) {
    try {
      return await catalogs.create(catalogOf(tenant), { ...rest, id, name: openName + no })
    } catch (error) {
      if (HeddleError.from(error).code !== 'exists') throw error
    }
  }
  return undefined
}

/** Leaves room for one more. */
async function forgetOldest(catalogs: CatalogClient, tenant: string): Promise<void> {
  const { records, total } = await catalogs.list(catalogOf(tenant), { sortBy: 'created',
    descending: false, limit: keptMax, offset: 0 })
  const ended = records.filter(({ id, name }) => name === id)
  for (const { id } of ended.slice(0, Math.max(0, total + 1 - keptMax))) {
    await catalogs.delete(catalogOf(tenant), id).catch(ignoreNotFound)
  }
}

function catalogOf(tenant: string): CatalogName {
  return { tenant, collection: 'trace_deletion' }
}
