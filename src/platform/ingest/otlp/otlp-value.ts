/** Values of attributes, as far as both encodings have them in common. */

import { isUtf8 } from 'node:buffer'

import type { AttributeValue } from './otlp-attributes.ts'

/** Levels of lists and maps in an attribute. */
export const depthMax = 32

/** Bytes that are no text are in base64. The client for Python sends its JSON as bytes. */
export function textOfBytes(bytes: Buffer): string {
  return bytes.toString(isUtf8(bytes) ? 'utf8' : 'base64')
}

/** A number of 64 bits; its digits if JSON would round it. */
export function integer(digits: string | number): AttributeValue {
  const value = Number(digits)
  return Number.isSafeInteger(value) || !/^-?\d+$/.test(String(digits)) ? value : String(digits)
}

/** A number; its name if JSON has none for it, such as `NaN`. */
export function double(value: number): AttributeValue {
  return Number.isFinite(value) ? value : String(value)
}

/** Nanoseconds as microseconds: numbers hold these. */
export function microseconds(nanoseconds: string): number {
  return Number(nanoseconds.slice(0, -3) || 0)
}
