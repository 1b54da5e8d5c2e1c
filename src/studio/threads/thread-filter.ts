/**
 * The filter box and the address, as a request has them. `user:ada` is a pair of metadata, which
 * are compared exactly; `n:5` is the number and `n:"5"` the text; `updated>2026-11-01` is a time;
 * a whole id is that thread; anything else are words.
 */

import type { ThreadFilter } from '../api/threads.ts'
import type { ThreadListSearch, timeSpans } from '../addresses/threads.ts'

/** A value of metadata that can be typed. */
export type Scalar = string | number | boolean | null

/** Conditions in the text of the filter box. */
export interface FilterParts {
  readonly words: readonly string[]
  readonly metadata: Readonly<Record<string, Scalar>>
  readonly ids: readonly string[]
  /** Dates or times of ISO 8601. */
  readonly after?: string | undefined
  readonly before?: string | undefined
}

const id = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
const time = /^updated([<>])(\d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?)$/
/** Texts in quotes may hold anything; a quote in them has a backslash. */
const token = /(?:("(?:[^"\\]|\\.)*"|[^\s":]+):)?("(?:[^"\\]|\\.)*"|\S+)/gu
const wordsMax = 200

/** Reads the text of the filter box. It may be half typed: no text is wrong. */
export function partsOf(text: string): FilterParts {
  const words: string[] = []
  const ids: string[] = []
  const metadata: Record<string, Scalar> = {}
  let after: string | undefined
  let before: string | undefined
  for (const [whole, key, value = ''] of text.matchAll(token)) {
    const [, side, date = ''] = time.exec(whole) ?? []
    if (side === '>' && isDate(date)) after = date
    else if (side === '<' && isDate(date)) before = date
    else if (key !== undefined) setOwn(metadata, unquoted(key), scalarOf(value))
    else if (id.test(value)) ids.push(value.toLowerCase())
    else if (!value.endsWith(':') || value.startsWith('"')) words.push(unquoted(value))
  }
  return { words: words.filter((word) => word !== ''), metadata, ids, after, before }
}

/** Writes parts as a text that reads as the same parts. */
export function filterText({ words, metadata, ids, after, before }: FilterParts): string {
  return [
    ...words.map((word) => isPlainWord(word) ? word : JSON.stringify(word)),
    ...Object.entries(metadata).map(([key, value]) =>
      `${isPlainKey(key) ? key : JSON.stringify(key)}:${scalarText(value)}`
    ),
    ...ids,
    ...after === undefined ? [] : [`updated>${after}`],
    ...before === undefined ? [] : [`updated<${before}`],
  ].join(' ')
}

/** The text with a pair of metadata more. */
export function withMetadata(text: string, key: string, value: Scalar): string {
  const parts = partsOf(text)
  return filterText({ ...parts, metadata: { ...parts.metadata, [key]: value } })
}

/** The filter of a request. Times that are counted from now depend on the clock. */
export function filterOf(search: ThreadListSearch, nowMs: number): ThreadFilter {
  const { words, metadata, ids, after, before } = partsOf(search.q ?? '')
  const all = { ...metadata, ...search.graph !== undefined && { graph_id: search.graph } }
  const since = search.since === undefined ? undefined : nowMs - spanMs[search.since]
  const afterMs = Math.max(since ?? 0, after === undefined ? 0 : Date.parse(after))
  return {
    ...words.length > 0 && { q: words.join(' ').slice(0, wordsMax) },
    ...search.status !== undefined && { status: search.status },
    ...Object.keys(all).length > 0 && { metadata: all },
    ...ids.length > 0 && { ids },
    ...afterMs > 0 && { updated_after: new Date(afterMs).toISOString() },
    ...before !== undefined && { updated_before: new Date(before).toISOString() },
  }
}

/** Conditions of a filter, in words that a person confirms. */
export function filterWords(
  { q, status, metadata = {}, ids = [], ...times }: ThreadFilter,
): string {
  const parts = [
    ...status === undefined ? [] : [`status ${status}`],
    ...q === undefined ? [] : [`words “${q}”`],
    ...Object.entries(metadata).map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
    ...ids.length === 0 ? [] : [`id ${ids.join(', ')}`],
    ...times.updated_after === undefined ? [] : [`updated after ${timeWords(times.updated_after)}`],
    ...times.updated_before === undefined
      ? []
      : [`updated before ${timeWords(times.updated_before)}`],
  ]
  return parts.length === 0 ? 'all threads' : parts.join(' · ')
}

/** 2026-11-27 00:41:34 UTC. */
const timeWords = (iso: string): string => `${iso.slice(0, 19).replace('T', ' ')} UTC`

const hourMs = 3_600_000

/** The spans of an address in milliseconds. */
export const spanMs: Readonly<Record<typeof timeSpans[number], number>> = { '1h': hourMs,
  '24h': 24 * hourMs, '7d': 7 * 24 * hourMs, '30d': 30 * 24 * hourMs }

const isDate = (text: string): boolean => !Number.isNaN(Date.parse(text))

/** `__proto__` is a name like any other. */
function setOwn(object: Record<string, Scalar>, name: string, value: Scalar): void {
  Object.defineProperty(object, name, { value, enumerable: true, configurable: true,
    writable: true })
}

function unquoted(text: string): string {
  if (!/^".*"$/su.test(text) || text.length < 2) return text
  try {
    return JSON.parse(text) as string
  } catch {
    return text.slice(1, -1)
  }
}

function scalarOf(text: string): Scalar {
  if (text === 'true' || text === 'false') return text === 'true'
  if (text === 'null') return null
  return isNumber(text) ? Number(text) : unquoted(text)
}

/** A number that is written as the program writes it: `007` and long ids are texts. */
const isNumber = (text: string): boolean =>
  Number.isFinite(Number(text)) && String(Number(text)) === text

function scalarText(value: Scalar): string {
  if (typeof value !== 'string') return String(value)
  const isPlain = /^[^\s"]\S*$/u.test(value) && scalarOf(value) === value
  return isPlain ? value : JSON.stringify(value)
}

const isPlainKey = (text: string): boolean => /^[^\s":]+$/u.test(text)
const isPlainWord = (text: string): boolean =>
  isPlainKey(text) && !id.test(text) && !time.test(text)
