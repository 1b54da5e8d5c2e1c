/** Attacks by metadata: large documents, and filters that each of them must be checked for. */

import type { Attack } from './place.ts'

/** A document of about five megabytes that contains the filter `{big: {y: 1}}` nowhere. */
const bigDocument = { x: Array.from({ length: 500_000 }, (_, n) => 1_000_000 + n) }

/** Stays an attack where such metadata is refused: then with the largest that is taken. */
export const metadataFilters: Attack = {
  name: 'counts by a filter that only each document can answer',
  prepare: async ({ developer, reader, send, drop }) => {
    for (let n = 0; n < 12; n += 1) {
      await send(developer, '/threads', { metadata: { big: bigDocument } })
    }
    return () => Promise.all(Array.from({ length: 12 }, () =>
      drop(reader, '/threads/count', { metadata: { big: { y: 1 } } })))
  },
}
