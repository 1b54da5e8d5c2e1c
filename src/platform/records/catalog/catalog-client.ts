/** The client of catalogs: one typed call for each command, whichever member owns the catalog. */

import type { Router } from '../../../../cluster/index.ts'
import { ignoreDeletedByThis } from '../../../owned-row/index.ts'
import { asUnread } from '../../../errors.ts'
import { catalogKindName } from './catalog-actor.ts'
import type { CatalogCommand } from './catalog-command.ts'
import type { CatalogRecord, Collection, NewRecord, RecordChange } from './catalog-record.ts'
import type { RecordPage, RecordQuery } from './record-query.ts'

/** Full name of a catalog. */
export interface CatalogName {
  readonly tenant: string
  readonly collection: Collection
}

/** Calls catalogs. Every call throws HeddleError. A deleted record is never answered. */
export interface CatalogClient {
  /**
   * The records of these names, in this order, made if there are none. They may be used for one
   * second from the moment of the call. `full` if there is no room.
   */
  ensure(catalog: CatalogName, records: readonly NewRecord[]): Promise<readonly CatalogRecord[]>
  /** `exists` if the name or the id is taken. With `ifExists`, that is changed in the record. */
  create(catalog: CatalogName, record: NewRecord, ifExists?: RecordChange): Promise<CatalogRecord>
  /** `not_found`; `exists` if the new name is taken; `stale` if it is not as expected. */
  change(catalog: CatalogName, id: string, change: RecordChange): Promise<CatalogRecord>
  /** Deletes a record. When this resolves, no member uses it any more. `not_found`. */
  delete(catalog: CatalogName, id: string): Promise<void>
  /** Those that exist. With `keeps` they may be used for one second from the moment of the call. */
  get(catalog: CatalogName, ids: readonly string[],
    keeps?: boolean): Promise<readonly CatalogRecord[]>
  list(catalog: CatalogName, query: RecordQuery): Promise<RecordPage>
}

/** The client that asks owners through a router. */
export function catalogClient(router: Router): CatalogClient {
  const ask = ({ tenant, collection }: CatalogName, command: CatalogCommand) =>
    router.ask({ kind: catalogKindName, tenant, id: collection }, command)
  return {
    ensure: async (catalog, records) =>
      records.length === 0
        ? []
        : await ask(catalog, { kind: 'ensure', records }) as CatalogRecord[],
    create: async (catalog, record, ifExists) =>
      await ask(catalog, { kind: 'create', record, ...ifExists && { ifExists } }) as CatalogRecord,
    change: async (catalog, id, change) =>
      await ask(catalog, { kind: 'change', id, change }) as CatalogRecord,
    delete: async (catalog, id) => {
      await ask(catalog, { kind: 'delete', id }).catch(ignoreDeletedByThis)
    },
    get: async (catalog, ids, keeps = false) =>
      ids.length === 0
        ? []
        : await ask(catalog, { kind: 'get', ids, keeps }).catch(asUnread) as CatalogRecord[],
    list: async (catalog, query) =>
      await ask(catalog, { kind: 'list', query }).catch(asUnread) as RecordPage,
  }
}
