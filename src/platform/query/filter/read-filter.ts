/** Reads filters: knows the fields and calls, and the values that each may have. */

import { HeddleError } from '../../../errors.ts'
import { isObject, nestedInLists } from '../../../json/index.ts'
import { searchPlaces } from '../../spans/searched-text.ts'
import type { SearchPlace } from '../../spans/searched-text.ts'
import { readTimeUs } from '../../spans/time.ts'
import { readUuid } from '../../../uuid-bytes.ts'
import { pairEntries, readEntryPart } from './entry-pairs.ts'
import type { EntryPart } from './entry-pairs.ts'
import { comparisons, filterError, listed, parseFilter, textOf } from './filter-text.ts'
import type { FilterPart } from './filter-text.ts'
import { wordsOf } from './filter.ts'
import type { Comparison, Filter, NumberField, TextField } from './filter.ts'

type Call = Extract<FilterPart, { kind: 'call' }>

/** Form in which a comparison with a field is read. */
type FieldKind =
  | { readonly kind: 'text'; readonly field: TextField; readonly form: 'id' | 'lower' | 'any' }
  | { readonly kind: 'number'; readonly field: NumberField;
    readonly form: 'plain' | 'time' | 'seconds' }
  | { readonly kind: 'root' }
  | { readonly kind: 'error' }
  | { readonly kind: 'tags' }

const text = (field: TextField, form: 'id' | 'lower' | 'any' = 'any'): FieldKind => ({ kind: 'text',
  field, form })
const number = (field: NumberField, form: 'plain' | 'time' | 'seconds' = 'plain'): FieldKind => ({
  kind: 'number',
  field,
  form,
})

/** The fields of filters, as both APIs name them. */
const fields: Readonly<Record<string, FieldKind>> = {
  id: text('id', 'id'),
  name: text('name'),
  run_type: text('type', 'lower'),
  status: text('status', 'lower'),
  trace_id: text('trace', 'id'),
  parent_run_id: text('parent', 'id'),
  session_id: text('project', 'id'),
  project_id: text('project', 'id'),
  thread_id: text('thread'),
  reference_example_id: text('example', 'id'),
  start_time: number('startUs', 'time'),
  end_time: number('endUs', 'time'),
  first_token_time: number('firstTokenUs', 'time'),
  latency: number('latencyUs', 'seconds'),
  latency_seconds: number('latencyUs', 'seconds'),
  execution_order: number('executionOrder'),
  prompt_tokens: number('promptTokens'),
  completion_tokens: number('completionTokens'),
  total_tokens: number('totalTokens'),
  prompt_cost: number('promptCost'),
  completion_cost: number('completionCost'),
  total_cost: number('totalCost'),
  is_root: { kind: 'root' },
  error: { kind: 'error' },
  tags: { kind: 'tags' },
}

/** Names of the fields that are compared, except for keys and values of objects. */
export const fieldNames: readonly string[] = Object.keys(fields)

/** Parts of a filter that may look into payloads, and words: each looks through all of one. */
const deepMax = 32
/** Characters of a word that is searched. */
const wordMax = 200
const tooLong = `A word of a search has ${wordMax} characters at most.`
/** Keys and values whose comparison costs about as much as the search for one word. */
const valuesOfPart = 16

/** Reads the text of a filter. Throws `malformed` and says at which character. */
export function readFilter(text: string): Filter {
  const filter = filterOf(parseFilter(text))
  if (deepParts(filter) > deepMax) {
    throw filterError(`more than ${deepMax} conditions on payloads`, 0)
  }
  return filter
}

function deepParts(filter: Filter): number {
  switch (filter.kind) {
    case 'all':
    case 'any':
      return filter.of.reduce((sum, each) => sum + deepParts(each), 0)
    case 'not':
      return deepParts(filter.of)
    case 'entry':
      return filter.of === 'feedback' || filter.of === 'metadata' ? 0 : partsOfEntry(filter)
    case 'search':
      return Math.max(1, filter.words.length)
    default:
      return filter.kind === 'contains' ? 1 : 0
  }
}

/**
 * Cost of an entry filter in parts: each entry of a payload is compared with every key and value.
 */
function partsOfEntry({ keys, tests }: Extract<Filter, { kind: 'entry' }>): number {
  const values = tests.reduce((sum, test) => sum + test.values.length, keys?.length ?? 0)
  return Math.max(1, Math.ceil(values / valuesOfPart))
}

/** The words of a text, all of which are looked for. Throws `malformed` if they are too much. */
export function readWords(text: string): Filter {
  const words = wordsOf(text)
  if (words.length > deepMax) {
    throw new HeddleError('malformed', `A search has ${deepMax} words at most.`)
  }
  if (words.some(({ length }) => length > wordMax)) throw new HeddleError('malformed', tooLong)
  return { kind: 'search', places: searchPlaces, words }
}

function filterOf(part: FilterPart): Filter {
  if (part.kind !== 'call') throw filterError('a call such as eq(name, "x") is expected', part.at)
  const entry = readEntryPart(part)
  if (entry !== undefined) return pairEntries([entry])[0]!
  switch (part.name) {
    case 'and':
      return { kind: 'all', of: conjuncts(part) }
    case 'or':
      return { kind: 'any', of: part.values.map(filterOf) }
    case 'not':
      return { kind: 'not', of: filterOf(only(part, 1)[0]!) }
    case 'has':
      return hasFilter(part)
    case 'search':
      return searchFilter(part)
    default:
      return comparisonFilter(part)
  }
}

/** The parts of an `and`: keys and values in it that belong together become one part. */
function conjuncts({ values }: Call): readonly Filter[] {
  const entries: EntryPart[] = []
  const others: Filter[] = []
  for (const value of values) {
    const entry = value.kind === 'call' ? readEntryPart(value) : undefined
    if (entry === undefined) others.push(filterOf(value))
    else entries.push(entry)
  }
  return [...others, ...pairEntries(entries)]
}

/** The values of a call that takes this many. */
function only(call: Call, count: number): readonly FilterPart[] {
  if (call.values.length === count) return call.values
  throw filterError(`${call.name} takes ${count} value${count === 1 ? '' : 's'}, not ` +
    String(call.values.length), call.at)
}

function comparisonFilter(call: Call): Filter {
  const negated = call.name === 'neq'
  if (!negated && call.name !== 'in' && !Object.hasOwn(comparisons, call.name)) {
    throw filterError(`${call.name} is no call of filters`, call.at)
  }
  const [field, value] = only(call, 2) as readonly [FilterPart, FilterPart]
  const kind = fieldOf(field)
  if (call.name === 'in') {
    return { kind: 'any', of: listed(value).map((each) => compared(kind, 'eq', each)) }
  }
  const filter = compared(kind, negated ? 'eq' : comparisons[call.name]!, value)
  return negated ? { kind: 'not', of: filter } : filter
}

function fieldOf(part: FilterPart): FieldKind {
  if (part.kind !== 'name') throw filterError('the name of a field is expected', part.at)
  if (Object.hasOwn(fields, part.value)) return fields[part.value]!
  throw filterError(`${part.value} is no field of filters`, part.at)
}

function compared(kind: FieldKind, op: Comparison, value: FilterPart): Filter {
  if (kind.kind === 'root') {
    if (op !== 'eq' || value.kind !== 'constant' || value.value === null) {
      throw filterError('is_root takes eq or neq with true or false', value.at)
    }
    return value.value ? { kind: 'root' } : { kind: 'not', of: { kind: 'root' } }
  }
  if (value.kind === 'constant' && value.value === null) return absent(kind, op, value.at)
  switch (kind.kind) {
    case 'tags':
      if (op !== 'eq') throw filterError('tags take has, eq, neq or in', value.at)
      return { kind: 'tag', tag: textOf(value) }
    case 'error':
      return { kind: 'error', op, value: textOf(value) }
    case 'text':
      return { kind: 'text', field: kind.field, op, value: formed(textOf(value), kind.form) }
    default:
      return { kind: 'number', field: kind.field, op, value: numberOf(value, kind.form) }
  }
}

function absent(kind: FieldKind, op: Comparison, at: number): Filter {
  if (op !== 'eq') throw filterError('null takes eq or neq', at)
  if (kind.kind === 'tags' || kind.kind === 'root') {
    throw filterError('this field is never null', at)
  }
  return { kind: 'not', of: { kind: 'present', field: kind.kind === 'error'
    ? 'error'
    : kind.field } }
}

function formed(value: string, form: 'id' | 'lower' | 'any'): string {
  if (form === 'id') return readUuid(value) ?? value.toLowerCase()
  return form === 'lower' ? value.toLowerCase() : value
}

function numberOf(part: FilterPart, form: 'plain' | 'time' | 'seconds'): number {
  const value = part.kind === 'number' || part.kind === 'text' ? part.value : undefined
  const read = form === 'time' ? readTimeUs(value) : form === 'seconds'
    ? microseconds(value)
    : plainNumber(value)
  if (read !== undefined) return read
  const wanted =
    { time: 'a time such as "2026-01-31T12:00:00Z" or milliseconds', seconds: 'seconds',
      plain: 'a number' }[form]
  throw filterError(`${wanted} is expected`, part.at)
}

function plainNumber(value: string | number | undefined): number | undefined {
  const read = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
  return typeof read === 'number' && Number.isFinite(read) ? read : undefined
}

const units: Readonly<Record<string, number>> = { '': 1, ms: 0.001, s: 1, m: 60, h: 3600 }

/** Microseconds in seconds, or in a text such as `5s` or `200ms`. */
function microseconds(value: string | number | undefined): number | undefined {
  const [, digits, unit] = /^(-?[\d.]+)\s*(ms|s|m|h)?$/.exec(String(value).trim()) ?? []
  const seconds = typeof value === 'number' ? value : plainNumber(digits)
  return seconds === undefined ? undefined : Math.round(seconds * 1e6 * (units[unit ?? ''] ?? 1))
}

function hasFilter(call: Call): Filter {
  const [field, value] = only(call, 2) as readonly [FilterPart, FilterPart]
  if (field.kind === 'name' && field.value === 'tags') return { kind: 'tag', tag: textOf(value) }
  if (field.kind !== 'name' || field.value !== 'metadata') {
    throw filterError('has takes tags or metadata', field.at)
  }
  return containment(value)
}

/**
 * The filter of `has`. Terms compare the scalars as texts. Only nested values need an opened block.
 */
function containment(part: FilterPart): Filter {
  const value = parsedObject(part)
  const nested = Object.entries(value).filter(([, each]) => typeof each === 'object')
  const scalars = Object.entries(value).filter(([, each]) => typeof each !== 'object')
  return { kind: 'all', of: [
    ...scalars.map(([key, each]): Filter => ({ kind: 'entry', of: 'metadata', keys: [key],
      tests: [{ member: 'value', op: 'eq', values: [each as string | number | boolean],
        negated: false }] })
    ),
    ...nested.length === 0
      ? []
      : [{ kind: 'contains', value: Object.fromEntries(nested) } satisfies Filter],
  ] }
}

/** Objects and lists inside of lists: each is compared with every element of another list. */
const nestedInListsMax = 64

function parsedObject(part: FilterPart): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(textOf(part))
    if (isObject(value) && nestedInLists(value) <= nestedInListsMax) return value
  } catch {
    // It is refused below, like every value that is no object, or one that is too deep.
  }
  throw filterError('the JSON of an object in a text is expected', part.at)
}

function searchFilter(call: Call): Filter {
  if (call.values.length === 1) {
    return { kind: 'search', places: searchPlaces, words: searchWords(call.values[0]!) }
  }
  const [field, value] = only(call, 2) as readonly [FilterPart, FilterPart]
  const place = field.kind === 'name' ? field.value : ''
  if (!searchPlaces.includes(place as SearchPlace)) {
    throw filterError(`search takes a text, or one of ${searchPlaces.join(', ')} and a text`,
      field.at)
  }
  return { kind: 'search', places: [place as SearchPlace], words: searchWords(value) }
}

function searchWords(part: FilterPart): readonly string[] {
  const words = wordsOf(textOf(part))
  if (words.every(({ length }) => length <= wordMax)) return words
  throw filterError(`a word of more than ${wordMax} characters`, part.at)
}
