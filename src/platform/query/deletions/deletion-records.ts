/** The records of deletions of traces, and the list of those that are woken after a restart. */

import type { Env } from '../../../../cluster/index.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import { collection } from '../../records/catalog/collection.ts'
import { openRecords } from '../../records/catalog/open-records.ts'
import { wakeList } from '../../records/catalog/wake-list.ts'
import type { WakeList } from '../../records/catalog/wake-list.ts'
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
  /** Open ones of all tenants, and a few that ended lately. */
  readonly listed: WakeList
}

/** Deletions of a tenant that may be open, and that are kept: they are one page. */
export const [openMax, keptMax] = [10, 100]

/** The records in catalogs. */
export function deletionRecords(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): DeletionRecords {
  const records = collection(catalogs, env, { name: 'trace_deletion', parse: deletionOf })
  const listed = wakeList(catalogs, env, 'trace_deletion_wake', ({ id }) => id)
  const deletions = openRecords<DeletionProgress, TraceDeletion>({ records, listed, isOpen, openMax,
    keptMax, full: `There may be ${openMax} deletions that go on: wait for one, or cancel one.` })
  return {
    get: async ({ tenant, id }) => (await records.some(tenant, [id]))[0],
    oldestOpen: async (tenant) => (await deletions.open(tenant)).oldest,
    list: async (tenant) =>
      (await records.list(tenant, { descending: true, limit: keptMax })).values,
    add: (name, request, arrivedBeforeUs) =>
      deletions.add(name, { body: { ...request, arrivedBeforeUs, ...unbegun } }),
    save: async (name, before, after) => {
      const saved = await deletions.save(name, before, after)
      if (!isOpen(after)) await listed.remove(name)
      return saved
    },
    listed,
  }
}
