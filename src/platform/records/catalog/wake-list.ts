/** Lists of records of all tenants whose actors have work, so that a new owner finds them. */

import type { Env } from '../../../../cluster/index.ts'
import { ignoreNotFound } from '../../../errors.ts'
import type { CatalogClient } from './catalog-client.ts'
import type { CatalogRecord, Collection } from './catalog-record.ts'
import { collection } from './collection.ts'

/** Full name of a record that an actor works for. */
export interface Woken {
  readonly tenant: string
  readonly id: string
}

/** A record of a tenant, and its place in the list. */
export interface WakeEntry extends Woken {
  readonly place: CatalogRecord
}

/** A list of records of all tenants. */
export interface WakeList {
  /** Adds a record, unless the list has it. */
  add(record: Woken): Promise<void>
  /** True if the list has a record. */
  has(record: Woken): Promise<boolean>
  /** Takes a record off, if the list has it. */
  remove(record: Woken): Promise<void>
  /** At most 100, the oldest first, after the given place. */
  page(after?: CatalogRecord): Promise<readonly WakeEntry[]>
}

/** Owner of all lists. No tenant has its name. */
const everybody = '*'

/** The list of this name. `placeIdOf` makes the id of an entry, a UUID, from the record. */
export function wakeList(catalogs: CatalogClient, env: Pick<Env, 'nowMs' | 'uuid'>,
  name: Collection, placeIdOf: (record: Woken) => string): WakeList {
  const entries = collection(catalogs, env, { name, parse: entryOf })
  return {
    add: async (record) => {
      const place = { id: placeIdOf(record), name: `${record.tenant}\n${record.id}`, body: {} }
      // Nothing changes of an entry that is there.
      await entries.create(everybody, place, {})
    },
    has: async (record) => (await entries.some(everybody, [placeIdOf(record)])).length > 0,
    remove: (record) => entries.delete(everybody, placeIdOf(record)).catch(ignoreNotFound),
    page: async (after) => (await entries.list(everybody, { ...after && { after } })).values,
  }
}

function entryOf(place: CatalogRecord): WakeEntry {
  const [tenant = '', id = ''] = place.name.split('\n')
  return { tenant, id, place }
}
