/** Metadata filters: what an index can answer of them, and whether a document holds the rest. */

import { contains, isObject } from '../../containment.ts'

type Json = unknown

/** Longer tokens are cut: they find more than they should, and what they find is looked at. */
const tokenLimit = 200

/** More parts of a filter than these are looked up in the documents that the others find. */
const tokensSought = 8

/** A filter, as the index and the look at each document take it. */
export interface MetadataFilter {
  readonly tokens: readonly string[]
  /** JSON of the filter where tokens alone cannot tell. */
  readonly remainder: string | undefined
}

/**
 * One token a key: the key with its value, or with the kind of its value where that is an object
 * or an array.
 */
export function tokensOf(metadataJson: string): string[] {
  const metadata = parse(metadataJson)
  return isObject(metadata) ? [...new Set(Object.entries(metadata).map(tokenOf))] : []
}

export function metadataFilter(metadata: Readonly<Record<string, Json>> = {}): MetadataFilter {
  const entries = Object.entries(metadata)
  const exact = entries.length <= tokensSought && entries.every(([key, value]) =>
    isSimple(value) && tokenOf([key, value]).length < tokenLimit)
  const tokens = [...new Set(entries.map(tokenOf))].slice(0, tokensSought)
  return { tokens, remainder: exact ? undefined : JSON.stringify(metadata) }
}

/** Whether the document `whole` holds all that `part` says; both are JSON texts. */
export function holds(whole: string, part: string): boolean {
  if (part !== lastPart.text) lastPart = { text: part, value: parse(part) }
  return contains(parse(whole), lastPart.value)
}

/** One filter is held against many documents. */
let lastPart: { text: string; value: Json } = { text: '{}', value: {} }

function tokenOf([key, value]: [string, Json]): string {
  const shown = Array.isArray(value) ? '[' : isObject(value) ? '{' : JSON.stringify(value)
  // Half a character is the same to SQLite as any other half: two tokens must not differ in it.
  return `${JSON.stringify(key)}:${shown}`.slice(0, tokenLimit).toWellFormed()
}

/** Whether a token says all there is to say: a scalar, or an empty container. */
function isSimple(value: Json): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}

function parse(json: string): Json {
  return json === '' ? {} : JSON.parse(json)
}
