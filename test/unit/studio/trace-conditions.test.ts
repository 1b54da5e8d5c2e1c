/** The menu of conditions: it says what the text of a filter says, and the server reads it. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { fieldNames, readFilter } from '../../../src/platform/query/filter/read-filter.ts'
import type { Filter } from '../../../src/platform/query/filter/filter.ts'
import { searchPlaces as placesOfServer } from '../../../src/platform/spans/searched-text.ts'
import { draftOf, emptyDraft, expressionOf, hasKey,
  hasValue } from '../../../src/studio/traces/filter/condition-draft.ts'
import { menuGroups, operatorsOf } from '../../../src/studio/traces/filter/condition-operators.ts'
import { conditionWords } from '../../../src/studio/traces/filter/condition-words.ts'
import { readExpression, writeExpression } from '../../../src/studio/traces/filter/expression.ts'
import type { Expression } from '../../../src/studio/traces/filter/expression.ts'
import { addedAt, asGroup, changedAt, conditionIn, groupOf, statusIn,
  withStatus } from '../../../src/studio/traces/filter/expression-edit.ts'
import { filterFields, searchPlaces } from '../../../src/studio/traces/filter/filter-fields.ts'
import { readSyntax, writeSyntax } from '../../../src/studio/traces/filter/filter-syntax.ts'
import { expectAlways } from '../../support/expect-always.ts'

const text = fc.oneof(fc.string({ unit: 'grapheme', maxLength: 12 }),
  fc.constantFrom('web', 'a b', '"', "'", '\\', '\n', '\u0000', '\ud800', 'eq(name, "x")'))
const scalar = fc.oneof(text, fc.boolean(), fc.constant(null),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((n) => n + 0))
const operator = fc.constantFrom('eq', 'neq', 'gt', 'gte', 'lt', 'lte')
const field = fc.constantFrom(...Object.keys(filterFields))
const source = fc.constantFrom('metadata', 'inputs', 'outputs', 'feedback')
const test = fc.record({ operator, value: scalar, member: fc.constant('value' as const) })
const condition = fc.oneof(
  fc.record({ kind: fc.constant('field' as const), field, operator, value: scalar }),
  fc.record({ kind: fc.constant('in' as const), field,
    values: fc.array(scalar, { maxLength: 3 }) }),
  fc.record({ kind: fc.constant('has' as const), value: text,
    field: fc.constantFrom('tags', 'metadata') }),
  fc.record({ kind: fc.constant('entry' as const), source, key: text }),
  fc.record({ kind: fc.constant('entry' as const), source, test }),
  fc.record({ kind: fc.constant('entry' as const), source, key: text, test }),
  fc.record({ kind: fc.constant('entry' as const), source: fc.constant('feedback' as const),
    test: fc.record({ operator, value: scalar, member: fc.constant('score' as const) }) }),
  fc.record({ kind: fc.constant('search' as const), words: text }),
  fc.record({ kind: fc.constant('search' as const), words: text,
    place: fc.constantFrom(...searchPlaces) }),
  fc.constantFrom('in(metadata_key, ["a", "b"])', 'eq(unknown, 1)', 'and()', 'maybe(name, [1])',
    'in(feedback_score, [1, 2])').map((code) => ({ kind: 'code' as const, text: code })),
)
const { expression } = fc.letrec<{ expression: Expression }>((tie) => ({
  expression: fc.oneof({ maxDepth: 3, withCrossShrink: true }, condition,
    fc.record({ kind: fc.constant('group' as const), join: fc.constantFrom('and', 'or'),
      of: fc.array(tie('expression'), { minLength: 2, maxLength: 4 }) }),
    tie('expression').map((of) => of.kind === 'not' ? of : { kind: 'not' as const, of })),
}))

const read = (written: string) => {
  const result = readExpression(written)
  if ('error' in result) throw new Error(result.error)
  return result.value
}

describe('text and menu', () => {
  it('say the same: what was written is read as the same tree', () => {
    expectAlways(fc.property(expression, (tree) => {
      expect(read(writeExpression(tree)!)).toEqual(tree)
    }))
  })

  it('of any text: a tree of which the text is read alike, or a message', () => {
    expectAlways(
      fc.property(
        fc.oneof(fc.string({ unit: 'grapheme', maxLength: 40 }), fc.array(
          fc.constantFrom('and(', 'or(', 'not(', 'eq(', 'name', ',', ')', '"x"', '[', ']', '1',
            'null', ' ', 'metadata_key', 'metadata_value'),
          { maxLength: 14 },
        )
          .map((parts) => parts.join(''))),
        (typed) => {
          const result = readExpression(typed)
          if ('error' in result) expect(result.error).toMatch(/^[A-Z].*\.$/u)
          else {
            const written = writeExpression(result.value)!
            expect(read(written)).toEqual(result.value)
          }
        },
      ),
    )
  })

  it('mean the same to the server', () => {
    for (const [typed, canonical = typed] of [
      ['and(eq(metadata_key, "a"), eq(metadata_value, "b"))'],
      ['and(eq(metadata_value, 2), eq(metadata_key, "a"), eq(name, "x"))',
        'and(and(eq(metadata_key, "a"), eq(metadata_value, 2)), eq(name, "x"))'],
      ['and(eq(metadata_key, "a"), eq(metadata_key, "b"), eq(metadata_value, "c"))'],
      ['and(eq(feedback_key, "k"), gt(feedback_score, 1), eq(input_value, "x"))',
        'and(and(eq(feedback_key, "k"), gt(feedback_score, 1)), eq(input_value, "x"))'],
      ["neq(tags, 'x')", 'not(has(tags, "x"))'],
    ] as const) {
      const written = writeExpression(read(typed))!
      expect(written).toBe(canonical)
      expect(sorted({ kind: 'all', of: [readFilter(written)] }))
        .toEqual(sorted({ kind: 'all', of: [readFilter(typed)] }))
    }
  })

  it('have no negation of a negation', () => {
    expect(writeExpression(read('not(not(eq(name, "a")))'))).toBe('eq(name, "a")')
  })

  it('keep apart what the server would put together', () => {
    const halves: Expression = { kind: 'group', join: 'and', of: [
      { kind: 'entry', source: 'metadata', key: 'a' },
      { kind: 'entry', source: 'metadata', test: { member: 'value', operator: 'eq', value: 'b' } },
    ] }
    expect(writeExpression(halves)).toBe(
      'and(and(eq(metadata_key, "a")), and(eq(metadata_value, "b")))',
    )
  })

  it('say in words what is wrong, and where', () => {
    for (const [typed, message] of [
      ['eq(name, "a"', 'A comma or ) is missing at character 13.'],
      ['eq(name, "a', 'A text has no end at character 10.'],
      ['and(eq(name, "a")) or', 'The filter should end at character 20.'],
      ['eq(, 1)', 'A value is missing at character 4.'],
      ['eq(name, "\\x")', 'A character behind \\ is not known at character 12.'],
      ['name', 'A filter is a call such as eq(name, "x").'],
      ['not('.repeat(40), 'A filter has 32 levels at most: it is too deep at character 133.'],
      ['x'.repeat(9_000), 'A filter has 8192 characters at most.'],
    ] as const) expect(readExpression(typed)).toEqual({ error: message })
  })

  it('of calls and values are the same', () => {
    const syntax = (typed: string) => {
      const result = readSyntax(typed)
      if ('error' in result) throw new Error(result.error)
      return result.value
    }
    expect(writeSyntax(syntax(" f ( 'a\\'b' , [1e3, -.5, None] , g() )"))).toBe(
      'f("a\'b", [1000, -0.5, null], g())',
    )
  })
})

describe('the menu', () => {
  it('has every field of the server, and its places of searches', () => {
    const fields = menuGroups.flatMap((group) => group.fields)
    for (const name of fieldNames) {
      expect(fields, name).toContain(filterFields[name]?.sameAs ?? name)
    }
    expect(searchPlaces).toEqual(placesOfServer)
  })

  it('makes conditions that the server reads, of every field and operator', () => {
    for (const name of menuGroups.flatMap((group) => group.fields)) {
      for (const each of ['', ...Object.keys(operatorsOf(name))]) {
        const draft = { ...emptyDraft(name), ...each !== '' && { operator: each } }
        const form = filterFields[name]?.form
        const value = name === 'code'
          ? 'eq(name, "x")'
          : name === 'contains'
          ? '{"a": 1}'
          : form === 'time'
          ? '2026-11-29T10:20'
          : '12'
        const filled = { ...draft, key: hasKey(draft) ? 'k' : '', value: hasValue(draft)
          ? value
          : '' }
        const made = expressionOf({ ...filled, isNegated: true })
        if ('error' in made) throw new Error(`${name} ${each}: ${made.error}`)
        expect(() => readFilter(writeExpression(made.value)!)).not.toThrow()
        const seen = conditionIn(made.value)!
        expect(conditionWords(seen.condition)).not.toMatch(/undefined|NaN/)
        if (name === 'code') continue
        expect(draftOf(made.value)).toEqual({ ...filled, isNegated: true })
      }
    }
  })

  it('says what is missing', () => {
    for (const [field, value, message] of [
      ['name', ' ', 'A value is missing.'],
      ['latency', 'soon', 'Write it like 2s, 500ms or 3m.'],
      ['total_tokens', 'many', 'Write a number.'],
      ['contains', '[1]', 'Write an object as JSON, such as {"customer": "c-1"}.'],
      ['feedback_score', 'good', 'A score is a number.'],
      ['code', 'eq(', 'A value is missing at character 4.'],
    ] as const) expect(expressionOf({ ...emptyDraft(field), value })).toEqual({ error: message })
    expect(expressionOf({ ...emptyDraft('metadata'), operator: 'exists' }))
      .toEqual({ error: 'A key is missing.' })
  })

  it('shows as code what it has no fields for', () => {
    for (const written of ['gt(name, "a")', 'in(metadata_key, ["a"])', 'in(name, ["a, b"])',
      'gt(start_time, "2026-11-29T10:20:30Z")']) {
      expect(draftOf(read(written))).toMatchObject({ field: 'code', value: written })
    }
  })

  it('changes, adds and removes at places of the tree', () => {
    const tree = asGroup(read('and(eq(name, "a"), not(or(eq(name, "b"), eq(name, "c"))))'))
    const d = read('eq(name, "d")')
    const written = (group: typeof tree) => writeExpression(groupOf(group))
    expect(written(addedAt(tree, [1], d))).toBe(
      'and(eq(name, "a"), not(or(eq(name, "b"), eq(name, "c"), eq(name, "d"))))',
    )
    expect(written(changedAt(tree, [1, 0], d))).toContain('not(or(eq(name, "d"), eq(name, "c")))')
    expect(written(changedAt(tree, [1, 0], undefined))).toBe(
      'and(eq(name, "a"), not(eq(name, "c")))',
    )
    expect(written(changedAt(tree, [7, 0], d))).toBe(written(tree))
    expect(written(changedAt(asGroup(d), [0], undefined))).toBeUndefined()
  })

  it('has one status for all results, beside any filter', () => {
    const either = asGroup(read('or(eq(name, "a"), eq(status, "error"))'))
    expect(statusIn(either)).toBeUndefined()
    const failed = withStatus(either, 'error')
    expect(statusIn(failed)).toBe('error')
    expect(writeExpression(groupOf(failed))).toBe(
      'and(or(eq(name, "a"), eq(status, "error")), eq(status, "error"))',
    )
    expect(withStatus(asGroup(undefined), 'pending').of).toHaveLength(1)
    expect(statusIn(withStatus(failed, undefined))).toBeUndefined()
  })
})

/** A filter of the server; the order of parts and `all` inside of `all` have no meaning. */
function sorted(filter: Filter): Filter {
  if (filter.kind !== 'all') return filter
  const parts = filter.of.flatMap((each) => {
    const inner = sorted(each)
    return inner.kind === 'all' ? inner.of : [inner]
  })
  return { kind: 'all',
    of: parts.toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b))) }
}
