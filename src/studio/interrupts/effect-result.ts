/** The result that a person says an effect had: JSON, or a text. Pure. */

import type { Json } from '../api/client.ts'
import { parseJson } from '../forms/values.ts'

/** Characters of a result, as JSON, above which the server does not keep it. */
const resultMax = 256 * 1024
/** Bytes of the body of an answer above which the server does not keep it. */
const bodyMax = 190 * 1024

/** Text of a person, and how it is meant. */
export interface TypedResult {
  readonly text: string
  readonly isJson: boolean
  /** True for the answer of an HTTP call. */
  readonly isCall: boolean
}

/** The result, or what is wrong with it in words. */
export function resultIn({ text, isJson, isCall }: TypedResult):
  | { readonly value: Json }
  | { readonly fault: string } {
  if (text.trim() === '') {
    return { fault: 'Give the result that it had, or go back to answer without one.' }
  }
  const parsed = isJson ? parseJson(text) : { value: text }
  if ('fault' in parsed) return parsed
  const { value } = parsed
  const size = isCall
    ? new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value)).length
    : JSON.stringify(value).length
  const max = isCall ? bodyMax : resultMax
  return size > max
    ? { fault: `The result is too large: it has ${Math.ceil(size / 1024)} KB of at most ` +
      `${max / 1024} KB, and would not be kept.` }
    : { value }
}
