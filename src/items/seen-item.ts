/** Items that the login of a project lets a caller see. Pure. */

import { objectIn } from '../json/index.ts'
import { matchesMetadata } from '../search/index.ts'
import type { MetadataFilter } from '../search/index.ts'
import type { ItemPlace } from './item.ts'

/** Returns true if a filter matches an item: its value, with its namespace and its key. */
export function isSeenItem(filter: MetadataFilter | undefined,
  { namespace, key, valueJson }: ItemPlace & { readonly valueJson: string }): boolean {
  return filter === undefined
    || matchesMetadata(filter, { ...objectIn(valueJson), namespace, key })
}
