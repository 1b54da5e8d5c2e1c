/** Texts of a span in which words are searched, and the bounds on them. Pure. */

import { isObject } from '../../json/index.ts'
import { isKeptKey } from './otel-keys.ts'
import type { Payload, PayloadField } from './payload.ts'
import { addWords } from './words.ts'

/** Part of a span in which words are searched. */
export type SearchPlace = 'name' | 'error' | 'inputs' | 'outputs' | 'tags' | 'metadata'

/** All places where words are searched if the filter names none. */
export const searchPlaces: readonly SearchPlace[] = ['name', 'error', 'inputs', 'outputs', 'tags',
  'metadata']

/** A place in the payload. */
export type PayloadPlace = Exclude<SearchPlace, 'name'>

/** The member of the payload that each place is in. */
const members: Readonly<Record<PayloadPlace, PayloadField>> = { error: 'error', inputs: 'inputs',
  outputs: 'outputs', tags: 'tags', metadata: 'extra' }

/** Characters of each place that are searched for one word; for two words half of them. */
export const searchedMax = 1024 * 1024
/** Different words of a span that an index keeps. */
const wordsMax = 20_000

/** The texts of a place, in lower case: of all together not more than so many characters. */
export function* searchedTexts(payload: Payload, place: PayloadPlace,
  charactersMax = searchedMax): Generator<string, void, void> {
  let left = charactersMax
  for (const text of textsOf(jsonOf(payload, place))) {
    if (left <= 0) return
    yield text.slice(0, left).toLowerCase()
    left -= text.length
  }
}

/** The words of a span as an index keeps them; undefined if there are too many. */
export function wordsOfSpan(name: string | null, payload: Payload):
  | ReadonlySet<string>
  | undefined {
  const words = new Set<string>()
  addWords(words, (name ?? '').toLowerCase())
  for (const place of searchPlaces) {
    if (place === 'name') continue
    for (const text of searchedTexts(payload, place)) {
      addWords(words, text)
      if (words.size > wordsMax) return undefined
    }
  }
  return words
}

/**
 * The JSON of a place. If metadata would take long to cut out, all that is around them is returned.
 */
function jsonOf(payload: Payload, place: PayloadPlace): string {
  const json = payload[members[place]]
  if (json === undefined) return ''
  if (place !== 'metadata' || json.byteLength > searchedMax) return json.toString()
  try {
    const extra: unknown = JSON.parse(json.toString())
    return isObject(extra) ? JSON.stringify(searchedIn(extra['metadata'])) : ''
  } catch {
    return ''
  }
}

/** Metadata without what is only kept: it is as long as exporters like, and rarely prose. */
function searchedIn(metadata: unknown): unknown {
  if (!isObject(metadata)) return metadata ?? null
  return Object.fromEntries(Object.entries(metadata).filter(([key]) => !isKeptKey(key)))
}

/** The texts in a JSON text that are no keys, in linear time and only as far as they are used. */
function* textsOf(json: string): Generator<string, void, void> {
  for (let begin = json.indexOf('"'); begin >= 0;) {
    const end = endOf(json, begin + 1)
    if (end < 0) return
    const next = json.indexOf('"', end + 1)
    if (!isKey(json, end + 1)) yield unquoted(json.slice(begin + 1, end))
    begin = next
  }
}

/** The quotation mark that ends a text. */
function endOf(json: string, from: number): number {
  for (let at = json.indexOf('"', from); at >= 0; at = json.indexOf('"', at + 1)) {
    let escapes = 0
    while (json[at - 1 - escapes] === '\\') escapes++
    if (escapes % 2 === 0) return at
  }
  return -1
}

/** True if what follows a text makes it the key of a member. */
function isKey(json: string, from: number): boolean {
  let at = from
  while (json.charCodeAt(at) <= 0x20) at++
  return json[at] === ':'
}

function unquoted(text: string): string {
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    return text
  }
}
