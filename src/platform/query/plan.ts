/** Plans the scan for a filter: the part of the filter that a store can decide. */

import { isIndexedMetadata, isIndexedTag } from '../spans/indexed-term.ts'
import type { Plan, Range, RangeField } from '../spans/span-port.ts'
import type { Term } from '../spans/span.ts'
import { termOf } from '../spans/term.ts'
import { indexedWords } from '../spans/words.ts'
import type { Comparison, Filter } from './filter/filter.ts'

/** Conditions of a plan, besides the place where it looks. */
type Conditions = Pick<Plan,
  'fromUs' | 'toUs' | 'rootsOnly' | 'terms' | 'words' | 'ranges' | 'type' | 'name'>

/** Later than every start. */
const endOfTime = Number.MAX_SAFE_INTEGER

const operators: Readonly<Record<Comparison, Range['op']>> = { eq: '=', gt: '>', gte: '>=', lt: '<',
  lte: '<=' }

/** Kinds of terms, those that few spans have first. */
const rarity = ['example', 'thread', 'metadata', 'feedback', 'error', 'tag', 'key', 'name'] as const

interface RankedTerm {
  readonly kind: (typeof rarity)[number]
  readonly term: Term
}

/** Projects that a scan looks into, and its order. */
export type ScanPlace = Pick<Plan, 'tenant' | 'projects' | 'order'>

/** The plan for spans that meet a filter and start at `earliestUs` or later. */
export function planOf(filter: Filter, { tenant, projects, order }: ScanPlace,
  earliestUs: number): Plan {
  const parts = conjunctsOf(filter)
  const terms = parts.flatMap(termsOf)
    .toSorted((a, b) => rarity.indexOf(a.kind) - rarity.indexOf(b.kind))
  const conditions: Conditions = {
    ...startsOf(parts, earliestUs),
    rootsOnly: parts.some(asksForRoots),
    terms: [...new Set(terms.map(({ term }) => term))],
    words: parts.flatMap((part) => part.kind === 'search' ? part.words.flatMap(indexedWords) : []),
    ranges: parts.flatMap(rangesOf),
    type: wanted(parts, 'type'),
    name: wanted(parts, 'name'),
  }
  return { tenant, projects, order, ...conditions }
}

/** Parts of a filter that every wanted span must meet. */
export function conjunctsOf(filter: Filter): readonly Filter[] {
  if (filter.kind === 'all') return filter.of.flatMap(conjunctsOf)
  if (filter.kind === 'any' && filter.of.length === 1) return conjunctsOf(filter.of[0]!)
  const inner = filter.kind === 'not' ? filter.of : undefined
  return inner?.kind === 'not' ? conjunctsOf(inner.of) : [filter]
}

function asksForRoots(part: Filter): boolean {
  return part.kind === 'root' ||
    (part.kind === 'number' && part.field === 'executionOrder' && part.op === 'eq' &&
      part.value === 1)
}

/** The first text that a field must be equal to. */
function wanted(parts: readonly Filter[], field: 'type' | 'name'): string | null {
  const found = parts.find((part) =>
    part.kind === 'text' && part.field === field && part.op === 'eq'
  )
  return found?.kind === 'text' ? found.value : null
}

/** Bounds on the starts of the wanted spans. */
function startsOf(parts: readonly Filter[], earliestUs: number) {
  let [fromUs, toUs] = [earliestUs, endOfTime]
  for (const part of parts) {
    if (part.kind !== 'number' || part.field !== 'startUs') continue
    const { op, value } = part
    if (op === 'gt') fromUs = Math.max(fromUs, value + 1)
    if (op === 'gte' || op === 'eq') fromUs = Math.max(fromUs, value)
    if (op === 'lt') toUs = Math.min(toUs, value)
    if (op === 'lte' || op === 'eq') toUs = Math.min(toUs, value + 1)
  }
  return { fromUs, toUs }
}

function rangesOf(part: Filter): readonly Range[] {
  if (part.kind !== 'number' || part.field === 'startUs' || part.field === 'executionOrder') {
    return []
  }
  const { field, op, value } = part
  return [{ field: field satisfies RangeField, op: operators[op], value }]
}

function termsOf(part: Filter): readonly RankedTerm[] {
  switch (part.kind) {
    case 'tag':
      return isIndexedTag(part.tag) ? [{ kind: 'tag', term: termOf.tag(part.tag) }] : []
    case 'error':
      return [{ kind: 'error', term: termOf.error }]
    case 'present':
      return part.field === 'error' ? [{ kind: 'error', term: termOf.error }] : []
    case 'text':
      return part.op === 'eq' ? termsOfText(part) : []
    case 'entry':
      return termsOfEntry(part)
    default:
      return []
  }
}

function termsOfText(
  { field, value }: Extract<Filter, { kind: 'text' }>,
): readonly RankedTerm[] {
  switch (field) {
    case 'name':
      return [{ kind: 'name', term: termOf.name(value) }]
    case 'thread':
      return [{ kind: 'thread', term: termOf.thread(value) }]
    case 'example':
      return [{ kind: 'example', term: termOf.example(value) }]
    case 'status':
      return value === 'error' ? [{ kind: 'error', term: termOf.error }] : []
    default:
      return []
  }
}

function termsOfEntry(
  { of, keys, tests }: Extract<Filter, { kind: 'entry' }>,
): readonly RankedTerm[] {
  const key = keys?.length === 1 ? keys[0]! : undefined
  if (key === undefined) return []
  if (of === 'feedback') return [{ kind: 'feedback', term: termOf.feedback(key) }]
  if (of !== 'metadata' || !isIndexedMetadata(key)) return []
  const pairs = tests.flatMap(({ op, values: [value, ...more], negated }): RankedTerm[] =>
    op === 'eq' && !negated && value !== null && value !== undefined && more.length === 0
      ? [{ kind: 'metadata', term: termOf.metadata(key, String(value)) }]
      : []
  )
  return pairs.length > 0 ? pairs : [{ kind: 'key', term: termOf.metadataKey(key) }]
}
