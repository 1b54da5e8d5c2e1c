/** A channel's value as one whole: its stored form, and whether that is still true. */

import { Form } from '../../../proto/gen/storage/v1/value.ts'
import type { Value } from '../../../proto/gen/storage/v1/value.ts'
import type { JsonText } from '../execution.ts'
import { looksLike, printOf } from './object-print.ts'
import type { Print } from './object-print.ts'
import type { Decode, Encode } from './value-codec.ts'

/** The stored form of one channel that holds no list. */
export class KnownValue {
  #live: unknown
  #stored: Value
  #print: Print | undefined
  /** True if the live value came from the graph, which may hold it elsewhere too. */
  #isShared: boolean

  private constructor(live: unknown, stored: Value, isShared: boolean) {
    this.#live = live
    this.#stored = stored
    this.#print = printOf(live)
    this.#isShared = isShared
  }

  static encoded(live: unknown, encode: Encode): KnownValue {
    return new KnownValue(live, encode(live).value, true)
  }

  static async loaded(stored: Value, decode: Decode): Promise<KnownValue> {
    return new KnownValue(await decode(stored), stored, false)
  }

  /** The value for an engine. */
  live(): unknown {
    return this.#live
  }
  get stored(): Value {
    return this.#stored
  }

  /** Its JSON, as the API shows it. */
  text(): JsonText {
    return this.#stored.json
  }

  /** Moves on to `live`. Returns the value to store; undefined if its bytes stayed the same. */
  change(live: unknown, isWritten: boolean, looks: boolean, encode: Encode): Value | undefined {
    const isSame = Object.is(this.#live, live)
    const mayDiffer = isWritten ? !isScalar(live) : looks && this.isTouched()
    if (isSame && !mayDiffer) return undefined
    const stored = encode(live).value
    if (!isSame || !sameStored(this.#stored, stored)) this.#isShared = true
    this.#live = live
    this.#print = printOf(live)
    if (sameStored(this.#stored, stored)) return undefined
    this.#stored = stored
    return stored
  }

  /** True if the value was changed in place, as far as that is checked. */
  isTouched(): boolean {
    return !looksLike(this.#live, this.#print, 'deep')
  }

  /** True if the value has other bytes than the stored ones. */
  differs(encode: Encode): boolean {
    return !isScalar(this.#live) && !sameStored(this.#stored, encode(this.#live).value)
  }

  /** Replaces the live value by what the log would give, which is shared with nothing. */
  async settle(decode: Decode): Promise<void> {
    if (!this.#isShared) return
    this.#isShared = false
    if (isScalar(this.#live)) return
    this.#live = await decode(this.#stored)
    this.#print = printOf(this.#live)
  }
}

/**
 * True if two stored values have the same bytes. Bytes of the graph's own serializer are not
 * compared, because it writes later. They count as changed.
 */
export function sameStored(a: Value, b: Value): boolean {
  if (a.json !== b.json || a.form !== b.form) return false
  if (!a.serialized && !b.serialized) return a.form !== Form.FORM_SERIALIZED
  if (a.serialized?.type !== b.serialized?.type) return false
  const { data } = b.serialized!
  return data.length === a.serialized!.data.length && Buffer.compare(a.serialized!.data, data) === 0
}

/** True for a value that cannot be changed, so that decoding it again gives the same value. */
export function isScalar(value: unknown): boolean {
  return value === null || !['object', 'function', 'symbol'].includes(typeof value)
}
