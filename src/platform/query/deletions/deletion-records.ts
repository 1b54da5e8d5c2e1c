/** The records of deletions of traces, and the list of those that are woken after a restart. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import { collection } from '../../records/catalog/collection.ts'
import type { Records } from '../../records/catalog/collection.ts'
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

/** Prefix of the names of open deletions. One that has ended has its id as its name. */
const openName = 'open '

/** The records in catalogs. */
export function deletionRecords(catalogs: CatalogClient,
  env: Pick<Env, 'nowMs' | 'uuid'>): DeletionRecords {
  const deletions = collection(catalogs, env, { name: 'trace_deletion', parse: deletionOf })
  const listed = wakeList(catalogs, env, 'trace_deletion_wake', ({ id }) => id)
  return {
    get: async ({ tenant, id }) => (await deletions.some(tenant, [id]))[0],
    oldestOpen: async (tenant) =>
      (await deletions.list(tenant, { limit: 1, nameContains: openName })).values[0],
    list: async (tenant) =>
      (await deletions.list(tenant, { descending: true, limit: keptMax })).values,
    add: async (name, request, arrivedBeforeUs) => {
      await forgetOldest(deletions, name.tenant)
      // First the list: what is only there is not acknowledged, and does nothing.
      await listed.add(name)
      const made = await addOpen(deletions, name, { ...request, arrivedBeforeUs, ...unbegun })
      if (made !== undefined) return made
      await listed.remove(name)
      throw new HeddleError('full',
        `There may be ${openMax} deletions that go on: wait for one, or cancel one.`)
    },
    save: async (name, before, after) => {
      const { tenant, id } = name
      const saved = await deletions.change(tenant, id, { body: after,
        expected: { version: before.version }, ...!isOpen(after) && { name: id } })
      if (!isOpen(after)) await listed.remove(name)
      return saved
    },
    listed,
  }
}

/** Names are taken once: an open deletion has one of a few. Undefined if all are taken. */
async function addOpen(deletions: Records<TraceDeletion>, { tenant, id }: DeletionName,
  body: object): Promise<TraceDeletion | undefined> {
  for (let no = 0; no < openMax; no++) {
    try {
      return await deletions.create(tenant, { id, name: openName + no, body })
    } catch (error) {
      if (HeddleError.from(error).code !== 'exists') throw error
    }
  }
  return undefined
}

/** Leaves room for one more. */
async function forgetOldest(deletions: Records<TraceDeletion>, tenant: string): Promise<void> {
  const { values, total } = await deletions.list(tenant, { limit: keptMax })
  const ended = values.filter((deletion) => !isOpen(deletion))
  for (const { id } of ended.slice(0, Math.max(0, total + 1 - keptMax))) {
    await deletions.delete(tenant, id).catch(ignoreNotFound)
  }
}
