/** Ids as short keys: sixteen bytes, ordered by time if the id is. */

import { hash } from 'node:crypto'

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

export const idKeyBytes = 16

/** The bytes of a UUID, or of a hash if the id is another text. */
export function idKey(id: string): Uint8Array {
  if (uuid.test(id)) return Buffer.from(id.replaceAll('-', ''), 'hex')
  return hash('sha256', id, 'buffer').subarray(0, idKeyBytes)
}
