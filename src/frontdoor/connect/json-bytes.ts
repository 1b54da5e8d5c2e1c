/** JSON inside messages: bytes of text, parsed only if an operation needs the value. */

import { HeddleError } from '../../errors.ts'
import { jsonOf } from '../../json/index.ts'

/** Long ones are read before, beside the main thread. */
const known = new WeakMap<Uint8Array, { readonly value: unknown }>()

/** From now on, this is the value of these bytes. */
export function remember(bytes: Uint8Array, value: unknown): void {
  known.set(bytes, { value })
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Undefined for no bytes. Throws `malformed` if they are not JSON, `invalid` if it is too deep. */
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

export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text)
}
