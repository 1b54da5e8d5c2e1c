/** JSON inside messages: bytes of text, parsed only if an operation needs the value. */

import { HeddleError } from '../../errors.ts'
import { jsonOf } from '../json-text.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Undefined for no bytes. Throws `malformed` if they are not JSON, `invalid` if it is too deep. */
export function jsonIn(field: string, bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined || bytes.length === 0) return undefined
  return jsonOf(field, textOf(field, bytes))
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
