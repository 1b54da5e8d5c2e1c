/** Rows that a caller may see: one that a filter leaves out is not there. */

import type { HeddleError } from '../../errors.ts'
import { objectIn } from '../../json/index.ts'
import { matchesMetadata } from '../../search/index.ts'
import type { MetadataFilter } from '../../search/index.ts'

/** True if a filter lets see a row with this metadata. */
export function isSeen(filter: MetadataFilter | undefined,
  { metadataJson }: { readonly metadataJson: string }): boolean {
  return filter === undefined || matchesMetadata(filter, objectIn(metadataJson))
}

/** Throws the error for a row that is not there, unless it is seen. */
export function requireSeen(filter: MetadataFilter | undefined,
  row: { readonly metadataJson: string }, missing: () => HeddleError): void {
  if (!isSeen(filter, row)) throw missing()
}

/** Both filters; undefined if there is none. */
export function bothOf(one: MetadataFilter | undefined, other: MetadataFilter | undefined):
  | MetadataFilter
  | undefined {
  return one && other ? { kind: 'all', of: [one, other] } : one ?? other
}
