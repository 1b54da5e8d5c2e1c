/** Lists of records of all tenants whose actors have work, so that a new owner finds them. */

import type { CatalogClient, CatalogName } from './catalog-client.ts'
import type { CatalogRecord, Collection, NewRecord } from './catalog-record.ts'

/** A record of a tenant, and its place in the list. */
export interface WakeEntry {
  readonly tenant: string
  readonly id: string
  readonly place: CatalogRecord
}

const pageRecords = 100

/** Catalog of a list. No tenant has its name. */
export function wakeCatalog(collection: Collection): CatalogName {
  return { tenant: '*', collection }
}

/** Entry of a record under an id of its own in the list. */
export function wakeRecord(placeId: string,
  { tenant, id }: Pick<WakeEntry, 'tenant' | 'id'>): NewRecord {
  return { id: placeId, name: `${tenant}\n${id}`, orderMs: 0, parentId: '', metadataJson: '{}',
    bodyJson: '{}' }
}

/** A page of a list, the oldest first, after the given place. */
export async function wakePage(catalogs: CatalogClient, list: CatalogName,
  after?: CatalogRecord): Promise<readonly WakeEntry[]> {
  const { records } = await catalogs.list(list, { sortBy: 'created', descending: false,
    limit: pageRecords, offset: 0, ...after && { after } })
  return records.map((place) => {
    const [tenant = '', id = ''] = place.name.split('\n')
    return { tenant, id, place }
  })
}
