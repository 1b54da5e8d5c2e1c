/**
 * Conditions on keys and values. `and(eq(metadata_key, "k"), eq(metadata_value, "v"))` asks for one
 * entry with both, so the parts of one `and` are put together here.
 */

import { comparisons, filterError, listed, textOf } from './filter-text.ts'
import type { FilterPart } from './filter-text.ts'
import type { EntrySource, EntryTest, Filter, Scalar } from './filter.ts'

/** A condition on the key or on the value of an entry. */
export type EntryPart =
  | { readonly kind: 'key'; readonly of: EntrySource; readonly keys: readonly string[];
    readonly negated: boolean }
  | { readonly kind: 'test'; readonly of: EntrySource; readonly test: EntryTest }

const fields: Readonly<Record<string, readonly [EntrySource, 'key' | EntryTest['member']]>> = {
  metadata_key: ['metadata', 'key'],
  metadata_value: ['metadata', 'value'],
  input_key: ['inputs', 'key'],
  input_value: ['inputs', 'value'],
  output_key: ['outputs', 'key'],
  output_value: ['outputs', 'value'],
  feedback_key: ['feedback', 'key'],
  feedback_value: ['feedback', 'value'],
  feedback_score: ['feedback', 'score'],
}

/** Reads a comparison with a key or a value; undefined if the call is another one. */
export function readEntryPart(
  { name, values: [field, value, ...more], at }: Extract<FilterPart, { kind: 'call' }>,
): EntryPart | undefined {
  if (field?.kind !== 'name' || !Object.hasOwn(fields, field.value)) return undefined
  const [of, member] = fields[field.value]!
  const isEqual = name === 'eq' || name === 'neq' || name === 'in'
  if (!isEqual && !Object.hasOwn(comparisons, name)) {
    throw filterError(`${field.value} takes eq, neq, in, gt, gte, lt or lte`, at)
  }
  if (value === undefined || more.length > 0) throw filterError(`${name} takes 2 values`, at)
  const values = name === 'in' ? listed(value) : [value]
  const negated = name === 'neq'
  if (member !== 'key') {
    const op = isEqual ? 'eq' : comparisons[name]!
    return { kind: 'test', of, test: { member, op, values: values.map(scalarOf), negated } }
  }
  if (!isEqual) throw filterError(`${field.value} takes eq, neq or in`, at)
  return { kind: 'key', of, keys: values.map(textOf), negated }
}

function scalarOf(part: FilterPart): Scalar {
  if (part.kind === 'text' || part.kind === 'number' || part.kind === 'constant') return part.value
  throw filterError('a text or a number is expected', part.at)
}

/** The parts of one `and` as conditions on entries. */
export function pairEntries(parts: readonly EntryPart[]): readonly Filter[] {
  const sources = [...new Set(parts.map(({ of }) => of))]
  return sources.flatMap((of) => pairsOf(of, parts.filter((part) => part.of === of)))
}

function pairsOf(of: EntrySource, parts: readonly EntryPart[]): readonly Filter[] {
  const absent = parts.filter((part) => part.kind === 'key' && part.negated)
    .map((part): Filter => ({ kind: 'not',
      of: { kind: 'entry', of, keys: part.kind === 'key' ? part.keys : null, tests: [] } })
    )
  const rest = parts.filter((part) => part.kind === 'test' || !part.negated)
  const keys = rest.flatMap((part) => (part.kind === 'key' ? [part.keys] : []))
  if (keys.length === 0) {
    return [...absent, ...keyless(of, rest.flatMap((part) =>
      part.kind === 'test' ? [part.test] : []
    ))]
  }
  const tests = testsByKey(rest, keys.length)
  return [...absent,
    ...keys.map((each, index): Filter => ({ kind: 'entry', of, keys: each, tests: tests[index]! }))]
}

/** Filters of tests without a key: any entry may meet them. A negated value must be in no entry. */
function keyless(of: EntrySource, tests: readonly EntryTest[]): readonly Filter[] {
  const wanted = tests.filter(({ negated }) => !negated)
  const unwanted = tests.filter(({ negated }) => negated)
  return [
    ...wanted.length === 0
      ? []
      : [{ kind: 'entry', of, keys: null, tests: wanted } satisfies Filter],
    ...unwanted.map((test): Filter => ({ kind: 'not',
      of: { kind: 'entry', of, keys: null, tests: [{ ...test, negated: false }] } })
    ),
  ]
}

/**
 * The tests of each key. Where there are as many values as keys they belong together in order, else
 * a value belongs to the key before it, or to the first one.
 */
function testsByKey(parts: readonly EntryPart[], keyCount: number): readonly EntryTest[][] {
  const byKey: EntryTest[][] = Array.from({ length: keyCount }, () => [])
  for (const member of ['value', 'score'] as const) {
    const own = parts.filter((part) => part.kind === 'key' || part.test.member === member)
    const inOrder = own.length - keyCount === keyCount
    let [keysBefore, testsBefore] = [0, 0]
    for (const part of own) {
      if (part.kind === 'key') keysBefore++
      else byKey[inOrder ? testsBefore++ : Math.max(0, keysBefore - 1)]!.push(part.test)
    }
  }
  return byKey
}
