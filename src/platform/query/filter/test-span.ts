/** Tests whether a span meets a filter: by its head if that is enough, else with its payload. */

import { contains } from '../../../json/index.ts'
import { isKeptKey } from '../../spans/otel-keys.ts'
import type { SpanHead, Term } from '../../spans/span.ts'
import { termOf } from '../../spans/term.ts'
import { entriesIn, metadataOf } from '../payload/content.ts'
import type { Content, Entry } from '../payload/content.ts'
import type { Comparison, EntrySource, EntryTest, Filter, NumberField, Scalar,
  TextField } from './filter.ts'
import { searchTest } from './search-text.ts'

/**
 * A test of a span. The result is undefined if the head does not decide it and there is no content.
 */
export type SpanTest = (head: SpanHead, content?: Content) => boolean | undefined

/** The test of a filter. Values that do not depend on the span are computed here, once. */
export function spanTest(filter: Filter): SpanTest {
  switch (filter.kind) {
    case 'all':
      return allOf(filter.of.map(spanTest))
    case 'any':
      return not(allOf(filter.of.map((each) => not(spanTest(each)))))
    case 'not':
      return not(spanTest(filter.of))
    case 'text':
      return (head) => compares(textIn[filter.field](head), filter.op, filter.value)
    case 'number':
      return (head) => compares(numberIn[filter.field](head), filter.op, filter.value)
    case 'root':
      return isRoot
    case 'error':
      return errorTest(filter)
    case 'present':
      return presenceTest(filter.field)
    case 'tag':
      return hasTerm(termOf.tag(filter.tag))
    case 'entry':
      return entryTest(filter)
    case 'contains':
      return (_, content) => content && contains(metadataOf(content), filter.value)
    default:
      return searchTest(filter)
  }
}

function allOf(tests: readonly SpanTest[]): SpanTest {
  return (head, content) => {
    let isKnown = true
    for (const test of tests) {
      const result = test(head, content)
      if (result === false) return false
      isKnown &&= result === true
    }
    return isKnown ? true : undefined
  }
}

function not(test: SpanTest): SpanTest {
  return (head, content) => {
    const result = test(head, content)
    return result === undefined ? undefined : !result
  }
}

/** True for the root of a trace. */
export function isRoot(head: SpanHead): boolean {
  return head.root === true
}

/** Status of a span: it failed, succeeded, or has not ended. */
export function statusOf({ failed, endUs }: SpanHead): 'error' | 'success' | 'pending' {
  if (failed === true) return 'error'
  return endUs === null ? 'pending' : 'success'
}

/** The text of each field, from a head. */
const textIn: Readonly<Record<TextField, (head: SpanHead) => string | null>> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  type: ({ type }) => type,
  status: statusOf,
  trace: ({ trace }) => trace,
  parent: ({ parent }) => parent,
  thread: ({ thread }) => thread,
  example: ({ example }) => example,
  project: ({ project }) => project,
}

/** The number of each field, from a head; null where it has none. */
export const numberIn: Readonly<Record<NumberField, (head: SpanHead) => number | null>> = {
  startUs: ({ startUs }) => startUs,
  endUs: ({ endUs }) => endUs,
  firstTokenUs: ({ firstTokenUs }) => firstTokenUs,
  latencyUs: ({ startUs, endUs }) => (endUs === null ? null : endUs - startUs),
  executionOrder: (head) => (isRoot(head) ? 1 : null),
  promptTokens: ({ promptTokens }) => promptTokens,
  completionTokens: ({ completionTokens }) => completionTokens,
  totalTokens: ({ totalTokens }) => totalTokens,
  promptCost: ({ promptCost }) => promptCost,
  completionCost: ({ completionCost }) => completionCost,
  totalCost: ({ totalCost }) => totalCost,
}

function presenceTest(field: Extract<Filter, { kind: 'present' }>['field']): SpanTest {
  if (field === 'error') return ({ failed }) => failed === true
  const read = field in textIn ? textIn[field as TextField] : numberIn[field as NumberField]
  return (head) => read(head) !== null
}

function errorTest({ op, value }: Extract<Filter, { kind: 'error' }>): SpanTest {
  return ({ failed }, content) => {
    if (failed !== true) return false
    return content && compares(errorText(content) ?? null, op, value)
  }
}

/** The error of a span as a text. */
export function errorText(content: Content): string | undefined {
  const error = content.value('error')
  return typeof error === 'string' ? error : content.payload.error?.toString()
}

function hasTerm(term: Term): SpanTest {
  return ({ terms }) => terms.includes(term)
}

function compares(actual: string | number | null, op: Comparison,
  wanted: string | number): boolean {
  if (actual === null) return false
  switch (op) {
    case 'eq':
      return actual === wanted
    case 'gt':
      return actual > wanted
    case 'gte':
      return actual >= wanted
    case 'lt':
      return actual < wanted
    default:
      return actual <= wanted
  }
}

function entryTest(filter: Extract<Filter, { kind: 'entry' }>): SpanTest {
  const { of, keys, tests } = filter
  if (of === 'feedback') {
    return ({ feedback }) =>
      feedback.some((mark) =>
        (keys === null || keys.includes(mark.key)) &&
        tests.every((test) => meets(mark[test.member], test))
      )
  }
  if (of === 'metadata' && keys !== null && tests.every(isEquality) && !keys.some(isKeptKey)) {
    return not(allOf(keys.map((key) => not(metadataTest(key, tests)))))
  }
  return (_, content) =>
    content &&
    [...entriesOf(of, content)].some(([key, value]) =>
      (keys === null || keys.includes(key)) && tests.every((test) => meets(value, test))
    )
}

/** Terms decide whether a value is equal to a scalar. */
function isEquality({ op, values }: EntryTest): boolean {
  return op === 'eq' && values.every((value) => value !== null)
}

function metadataTest(key: string, tests: readonly EntryTest[]): SpanTest {
  return allOf([hasTerm(termOf.metadataKey(key)), ...tests.map(({ values, negated }) => {
    const wanted = values.map((value) => termOf.metadata(key, String(value)))
    return ({ terms }: SpanHead) => wanted.some((term) => terms.includes(term)) !== negated
  })])
}

function entriesOf(of: Exclude<EntrySource, 'feedback'>, content: Content): Iterable<Entry> {
  return of === 'metadata' ? Object.entries(metadataOf(content)) : entriesIn(content.value(of))
}

function meets(actual: unknown, { op, values, negated }: EntryTest): boolean {
  return values.some((wanted) => scalarMeets(actual, op, wanted)) !== negated
}

/** True if the value meets a scalar. A text also equals the number or constant that it spells. */
function scalarMeets(actual: unknown, op: Comparison, wanted: Scalar): boolean {
  if (wanted === null) return op === 'eq' && (actual === null || actual === undefined)
  if (actual === null || actual === undefined || typeof actual === 'object') return false
  if (op === 'eq') return String(actual) === String(wanted)
  const isComparable = typeof actual === typeof wanted && typeof wanted !== 'boolean'
  return isComparable && compares(actual as string | number, op, wanted as string | number)
}
