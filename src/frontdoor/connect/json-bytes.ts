/** JSON inside messages: bytes of text, parsed only where an operation wants a value. */

import { HeddleError } from '../../errors.ts'

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Undefined for no bytes. Throws `malformed` where they are no JSON. */
export function jsonIn(field: string, bytes: Uint8Array | undefined): unknown {
  if (bytes === undefined || bytes.length === 0) return undefined
  try {
    return JSON.parse(utf8.decode(bytes))
  } catch (error) {
    const reason = (error as Error).message
    throw new HeddleError('malformed', `${field} is not valid JSON: ${reason}.`)
  }
}

export function bytesOf(text: string): Uint8Array {
  return Buffer.from(text)
}
