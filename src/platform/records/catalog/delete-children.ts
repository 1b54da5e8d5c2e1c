/** Deletes the records that belong to another one. */

import { ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient, CatalogName } from './catalog-client.ts'

/** Records that are deleted at once. */
const atOnce = 100

/** Deletes all records of a catalog that have this parent. */
export async function deleteChildren(catalogs: CatalogClient, catalog: CatalogName,
  parentId: string): Promise<void> {
  for (;;) {
    const { records } = await catalogs.list(catalog, { sortBy: 'created', descending: false,
      limit: atOnce, offset: 0, parentIds: [parentId] })
    if (records.length === 0) return
    await Promise.all(records.map(({ id }) => catalogs.delete(catalog, id).catch(ignoreNotFound)))
  }
}
