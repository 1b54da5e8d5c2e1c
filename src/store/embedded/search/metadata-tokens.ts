/** Filters on metadata: the part that an index answers, and the check of documents for the rest. */

import { contains, isObject } from '../../../json/index.ts'
import { matchesMetadata } from '../../../search/index.ts'
import type { MetadataFilter } from '../../../search/index.ts'

type Json = unknown

/** Conditions on metadata, of which all must hold: what is sought, and what a caller may see. */
export interface MetadataConditions {
  readonly metadata?: Readonly<Record<string, Json>> | undefined
  readonly allowed?: MetadataFilter | undefined
  /** Set for rows without tokens. */
  readonly hidden?: boolean
}

/** Tokens of which a document has at least one. */
export type Clause = readonly string[]

/** Conditions, as the index takes them. */
export interface Clauses {
  /** Each holds for every document that matches. */
  readonly clauses: readonly Clause[]
  /** True if they decide alone. Otherwise, documents are checked. */
  readonly exact: boolean
}

/** Characters of a token. Longer ones are cut: they find too much, which is then checked. */
const tokenLimit = 200

/** Clauses that are looked up in the index. Others are checked in what these find. */
const clausesSought = 8

/** In the place of characters that SQLite treats alike. */
const replaced = '\u{FFFD}'

/**
 * Makes one token for each key. It has the key and its value, or the kind of the value if that is
 * an object or an array.
 */
export function tokensOf(metadataJson: string): string[] {
  const metadata = parse(metadataJson)
  return isObject(metadata) ? [...new Set(Object.entries(metadata).map(tokenOf))] : []
}

/** Makes clauses of conditions. */
export function clausesOf({ metadata, allowed, hidden = false }: MetadataConditions): Clauses {
  if (hidden) return { clauses: [], exact: metadata === undefined && allowed === undefined }
  const sought = Object.entries(metadata ?? {}).map(soughtIn)
  return all([...allowed ? [some(clausesIn(allowed))] : [], some(all(sought))])
}

/** True if the document, a JSON text, matches. */
export function isMatch(document: string, { metadata, allowed }: MetadataConditions): boolean {
  const value = parse(document)
  return (metadata === undefined || contains(value, metadata))
    && (allowed === undefined || matchesMetadata(allowed, isObject(value) ? value : {}))
}

/** As `isMatch`, for a statement: the conditions are a JSON text. */
export function holds(document: string, conditions: string): boolean {
  if (conditions !== last.text) {
    last = { text: conditions, value: JSON.parse(conditions) as MetadataConditions }
  }
  return isMatch(document, last.value)
}

/** The last conditions, parsed: they are checked against many documents. */
let last: { text: string; value: MetadataConditions } = { text: '{}', value: {} }

/** The clauses of a filter, in a form of which every document that matches holds each. */
function clausesIn(filter: MetadataFilter): Clauses {
  switch (filter.kind) {
    case 'equals':
      return soughtIn([filter.key, filter.value])
    case 'contains':
      return { clauses: [[tokenOf([filter.key, filter.values])]], exact: false }
    case 'all':
      return all(filter.of.map(clausesIn))
    case 'any':
      return any(filter.of.map(clausesIn))
  }
}

function soughtIn(entry: [string, Json]): Clauses {
  const token = tokenOf(entry)
  const exact = isSimple(entry[1]) && token.length < tokenLimit && !token.includes(replaced)
  return { clauses: [[token]], exact }
}

function all(parts: readonly Clauses[]): Clauses {
  const byText = new Map(
    parts.flatMap(({ clauses }) => clauses).map((each) => [each.join('\n'), each]),
  )
  return { clauses: [...byText.values()], exact: parts.every(({ exact }) => exact) }
}

/** A document that matches holds a clause of one of the parts, and so one with all their tokens. */
function any(parts: readonly Clauses[]): Clauses {
  const firsts = parts.map(({ clauses: [first] }) => first)
  const exact = parts.every((part) => part.exact && part.clauses.length === 1)
  if (firsts.includes(undefined)) return { clauses: [], exact: false }
  return { clauses: [[...new Set(firsts.flatMap((clause) => clause ?? []))]], exact }
}

/** Only as many as are looked up. */
function some({ clauses, exact }: Clauses): Clauses {
  return { clauses: clauses.slice(0, clausesSought),
    exact: exact && clauses.length <= clausesSought }
}

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
