/** Metadata filters: the part that an index can answer, and the check of documents for the rest. */

import { contains, isObject } from '../../../json/index.ts'

type Json = unknown

/** Characters of a token. Longer ones are cut: they find too much, which is then checked. */
const tokenLimit = 200

/** Parts of a filter that are looked up in the index. Others are checked in what these find. */
const tokensSought = 8

/** A filter, in the form that the index and the check of documents use. */
export interface MetadataFilter {
  readonly tokens: readonly string[]
  /** JSON of the filter; undefined if tokens alone decide. */
  readonly remainder: string | undefined
}

/**
 * Makes one token for each key. It has the key and its value, or the kind of the value if that is
 * an object or an array.
 */
export function tokensOf(metadataJson: string): string[] {
  const metadata = parse(metadataJson)
  return isObject(metadata) ? [...new Set(Object.entries(metadata).map(tokenOf))] : []
}

/** Splits a filter into what the index answers and what documents answer. */
export function metadataFilter(metadata: Readonly<Record<string, Json>> = {}): MetadataFilter {
  const entries = Object.entries(metadata)
  const exact = entries.length <= tokensSought &&
    entries.every(([key, value]) => isSimple(value) && tokenOf([key, value]).length < tokenLimit)
  const tokens = [...new Set(entries.map(tokenOf))].slice(0, tokensSought)
  return { tokens, remainder: exact ? undefined : JSON.stringify(metadata) }
}

/** True if the tokens alone say which documents match. */
export function tokensDecide(metadata: Readonly<Record<string, Json>> | undefined): boolean {
  return metadataFilter(metadata).remainder === undefined
}

/** True if the document `whole` contains all of `part`. Both are JSON texts. */
export function holds(whole: string, part: string): boolean {
  if (part !== lastPart.text) lastPart = { text: part, value: parse(part) }
  return contains(parse(whole), lastPart.value)
}

/** The last filter, parsed: one filter is checked against many documents. */
let lastPart: { text: string; value: Json } = { text: '{}', value: {} }

function tokenOf([key, value]: [string, Json]): string {
  const shown = Array.isArray(value) ? '[' : isObject(value) ? '{' : JSON.stringify(value)
  // SQLite treats all lone surrogates alike, so two tokens must not differ only in them.
  return `${JSON.stringify(key)}:${shown}`.slice(0, tokenLimit).toWellFormed()
}

/** True if a token says everything, as for a scalar or an empty container. */
function isSimple(value: Json): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}

function parse(json: string): Json {
  return json === '' ? {} : JSON.parse(json)
}
