/** Identity of a request: two executions of the same code ask the same. Pure. */

import { createHash } from 'node:crypto'
import { isUtf8 } from 'node:buffer'

import { sortedMembers } from '../../json/index.ts'

/** A request in the form in which it is compared. */
export interface CallIdentity {
  readonly method: string
  readonly url: string
  /** The body in canonical form. */
  readonly text: string
  /** Hash of all of it, and with ids and times masked. */
  readonly exact: string
  readonly masked: string
}

const masks: readonly (readonly [RegExp, string])[] = [
  // A trace of W3C, a UUID, a key of an effect.
  [/\b00-[\da-f]{32}-[\da-f]{16}-[\da-f]{2}\b/gi, '<trace>'],
  [/[\da-f]{8}-[\da-f]{4}-[\da-f]{4}-[\da-f]{4}-[\da-f]{12}/gi, '<id>'],
  // Without dashes only those that are made by chance or by time: others may be hashes.
  [/\b[\da-f]{12}[47][\da-f]{3}[89ab][\da-f]{15}\b/gi, '<id>'],
  [/\bhdl_[\w-]{16,}/g, '<key>'],
  // ISO times, and times in milliseconds or seconds from 2001 on.
  [/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?/g, '<time>'],
  [/(?<![\w.])[12]\d{9}(?:\d{3})?(?:\.\d+)?(?![\w.])/g, '<time>'],
]

/** The text with ids and times masked. */
export function maskedText(text: string): string {
  return masks.reduce((shown, [form, instead]) => shown.replace(form, instead), text)
}

/** The value as canonical JSON, with ids and times masked in its texts, names and numbers. */
export function maskedJson(value: unknown): string {
  return JSON.stringify(maskedValue(value), sortedMembers)
}

function maskedValue(value: unknown): unknown {
  if (typeof value === 'string') return maskedText(value)
  if (typeof value === 'number') {
    const text = maskedText(String(value))
    return text === String(value) ? value : text
  }
  if (Array.isArray(value)) return value.map(maskedValue)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value)
    .map(([name, each]) => [maskedText(name), maskedValue(each)]))
}

/** The identity of a request. `url` and `body` are without secrets. */
export function callIdentity(method: string, url: string, body: Uint8Array): CallIdentity {
  const text = canonicalBody(body)
  // The stars of a secret are as long as the form in which it was written.
  const whole = `${method} ${url}\n${text}`.replace(/\*{3,}/g, '***')
  return { method, url, text, exact: hashOf(whole), masked: hashOf(maskedText(whole)) }
}

function canonicalBody(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const text = bytes.toString(isUtf8(bytes) ? 'utf8' : 'latin1')
  try {
    return JSON.stringify(JSON.parse(text), sortedMembers)
  } catch {
    // The boundary of a form is random.
    const [, boundary] = /^--([^\r\n]{1,200})\r\n/.exec(text) ?? []
    return boundary === undefined ? text : text.replaceAll(boundary, '<boundary>')
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('base64')
}
