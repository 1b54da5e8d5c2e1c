/** Catalogs in memory, for tests: what their actors decide, without a log. */

import { decide } from '../../src/platform/records/catalog/catalog-command.ts'
import type { ChangingCommand } from '../../src/platform/records/catalog/catalog-command.ts'
import { RecordIndex } from '../../src/platform/records/catalog/record-index.ts'
import { pageOf } from '../../src/platform/records/catalog/record-query.ts'
import type { CatalogClient, CatalogName, CatalogRecord } from '../../src/platform/index.ts'

/** No records yet. */
export function memoryCatalogs(env: { nowMs(): number }): CatalogClient {
  const catalogs = new Map<string, RecordIndex>()
  const at = ({ tenant, collection }: CatalogName) => {
    const name = JSON.stringify([tenant, collection])
    const index = catalogs.get(name) ?? new RecordIndex()
    catalogs.set(name, index)
    return index
  }
  const change = async (catalog: CatalogName, command: ChangingCommand) => {
    const index = at(catalog)
    const { saved, deleted, reply } = decide(command, { index, nowMs: env.nowMs(),
      noun: catalog.collection.replaceAll('_', ' ') })
    for (const id of deleted) index.remove(id)
    for (const record of saved) index.put(record)
    return reply
  }
  return {
    ensure: async (catalog, records) =>
      await change(catalog, { kind: 'ensure', records }) as CatalogRecord[],
    create: async (catalog, record, ifExists) =>
      await change(catalog, { kind: 'create', record,
        ...ifExists && { ifExists } }) as CatalogRecord,
    change: async (catalog, id, changed) =>
      await change(catalog, { kind: 'change', id, change: changed }) as CatalogRecord,
    delete: async (catalog, id) => {
      await change(catalog, { kind: 'delete', id })
    },
    get: async (catalog, ids) => ids.flatMap((id) => at(catalog).get(id) ?? []),
    list: async (catalog, query) => await pageOf(at(catalog), query, () => Promise.resolve()),
  }
}
