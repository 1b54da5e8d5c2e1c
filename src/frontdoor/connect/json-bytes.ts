/** JSON inside messages: bytes of text, parsed only if an operation needs the value. */

import { HeddleError } from '../../errors.ts'
import { jsonOf } from '../../json/index.ts'

/** Values of long bytes, which were read beside the main thread. */
const known = new WeakMap<Uint8Array, { readonly value: unknown }>()

/** Sets the value that `jsonIn` returns for these bytes. */
export function remember(bytes: Uint8Array, value: unknown): void {
  known.set(bytes, { value })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The value of bytes; undefined for none. Throws `malformed` if they are not JSON, and `invalid` if
 * the value is too deep.
 */
export function jsonIn(field: string, bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined || bytes.length === 0) return undefined
  const read = known.get(bytes)
  return read ? read.value : jsonOf(field, textOf(field, bytes))
}

function textOf(field: string, bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw new HeddleError('malformed', `${field} is not valid UTF-8.`)
  }
}

/** The UTF-8 bytes of a text. */
export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text)
}
