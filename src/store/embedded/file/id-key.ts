/** Ids as short keys: sixteen bytes, in the order of time if the id is a UUID of version 7. */

import { hash } from 'node:crypto'

const uuid = /^[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}$/

/** Length of a key in bytes. */
export const idKeyBytes = 16

/** The bytes of a UUID. For any other text, the beginning of its SHA-256. */
export function idKey(id: string): Uint8Array {
  if (uuid.test(id)) return Buffer.from(id.replaceAll('-', ''), 'hex')
  return hash('sha256', id, 'buffer').subarray(0, idKeyBytes)
}
