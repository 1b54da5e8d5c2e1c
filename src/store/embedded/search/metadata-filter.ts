/**
 * Metadata filters: what an index can answer of them, and how documents are checked for the rest.
 */

import { contains, isObject } from '../../../json/index.ts'

type Json = unknown

/** Longer tokens are cut: they find too much, and what they find is then checked. */
const tokenLimit = 200

/** Further parts of a filter are not looked up in the index but checked in what the others find. */
const tokensSought = 8

/** A filter, in the form that the index and the check of each document use. */
export interface MetadataFilter {
  readonly tokens: readonly string[]
  /** JSON of the filter, if tokens alone cannot decide. */
  readonly remainder: string | undefined
}

/**
 * One token per key: the key with its value, or with the kind of its value if that is an object or
 * an array.
 */
export function tokensOf(metadataJson: string): string[] {
  const metadata = parse(metadataJson)
  return isObject(metadata) ? [...new Set(Object.entries(metadata).map(tokenOf))] : []
}

export function metadataFilter(metadata: Readonly<Record<string, Json>> = {}): MetadataFilter {
  const entries = Object.entries(metadata)
  const exact = entries.length <= tokensSought &&
    entries.every(([key, value]) => isSimple(value) && tokenOf([key, value]).length < tokenLimit)
  const tokens = [...new Set(entries.map(tokenOf))].slice(0, tokensSought)
  return { tokens, remainder: exact ? undefined : JSON.stringify(metadata) }
}

/** Whether the tokens alone say which documents match. */
export function tokensDecide(metadata: Readonly<Record<string, Json>> | undefined): boolean {
  return metadataFilter(metadata).remainder === undefined
}

/** Whether the document `whole` contains all of `part`; both are JSON texts. */
export function holds(whole: string, part: string): boolean {
  if (part !== lastPart.text) lastPart = { text: part, value: parse(part) }
  return contains(parse(whole), lastPart.value)
}

/** The last filter, parsed: one filter is checked against many documents. */
let lastPart: { text: string; value: Json } = { text: '{}', value: {} }

function tokenOf([key, value]: [string, Json]): string {
  const shown = Array.isArray(value) ? '[' : isObject(value) ? '{' : JSON.stringify(value)
  // To SQLite all lone surrogates are the same: two tokens must not differ only in them.
  return `${JSON.stringify(key)}:${shown}`.slice(0, tokenLimit).toWellFormed()
}

/** Whether a token says everything: a scalar, or an empty container. */
function isSimple(value: Json): boolean {
  return typeof value !== 'object' || value === null || Object.keys(value).length === 0
}

function parse(json: string): Json {
  return json === '' ? {} : JSON.parse(json)
}
