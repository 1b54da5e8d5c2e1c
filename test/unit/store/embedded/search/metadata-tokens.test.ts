/** The tokens of conditions on metadata never exclude a match, and decide where they say so. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { contains } from '../../../../../src/json/index.ts'
import { matchesMetadata, readMetadataFilter } from '../../../../../src/search/index.ts'
import { clausesOf, holds, isMatch,
  tokensOf } from '../../../../../src/store/embedded/search/metadata-tokens.ts'
import type {
  MetadataConditions,
} from '../../../../../src/store/embedded/search/metadata-tokens.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const scalar = fc.oneof(fc.constantFrom<unknown>(0, 1, '1', '', true, false, null),
  fc.constantFrom('x'.repeat(250), `${'x'.repeat(250)}y`))
const value = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3, depthSize: 'small' }, scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { maxKeys: 2 })),
})).value
const keys = fc.constantFrom('a', 'b', 'c', 'k'.repeat(250), `${'k'.repeat(250)}l`)
type Members = Readonly<Record<string, unknown>>

const metadata = fc.dictionary(keys, value, { maxKeys: 4 })
const allowedValue = scalar as fc.Arbitrary<string | number | boolean | null>

const condition = fc.oneof(
  fc.record({ kind: fc.constant('equals' as const), key: keys, value: allowedValue }),
  fc.record({ kind: fc.constant('contains' as const), key: keys,
    values: fc.array(allowedValue, { maxLength: 2 }) }),
)
const branch = fc.oneof(condition,
  fc.record({ kind: fc.constantFrom('all' as const, 'any' as const),
    of: fc.array(condition, { maxLength: 3 }) }))
const allowed = fc.oneof(branch,
  fc.record({ kind: fc.constantFrom('all' as const, 'any' as const),
    of: fc.array(branch, { maxLength: 3 }) }))

describe('conditions on metadata', () => {
  const conditions = fc.record<MetadataConditions>({ metadata, allowed }, { requiredKeys: [] })

  it('have only clauses that every matching document holds, and decide if they are exact', () => {
    expectAlways(fc.property(metadata, conditions, (whole, wanted) => {
      const document = JSON.stringify(whole)
      const tokens = tokensOf(document)
      const { clauses, exact } = clausesOf(wanted)
      const found = clauses.every((clause) => clause.some((token) => tokens.includes(token)))
      const { metadata = {}, allowed = readMetadataFilter({}) } = wanted
      expect(isMatch(document, wanted))
        .toBe(contains(whole, metadata) && matchesMetadata(allowed, whole))
      if (isMatch(document, wanted)) expect(found).toBe(true)
      if (exact) expect(found).toBe(isMatch(document, wanted))
      expect(holds(document, JSON.stringify(wanted))).toBe(isMatch(document, wanted))
    }))
  })

  it('are decided by the fewest rows for the owner of a thread', () => {
    const owner = readMetadataFilter({ owner: 'a' })
    expect(clausesOf({ metadata: { graph_id: 'g' }, allowed: owner }))
      .toEqual({ clauses: [['"owner":"a"'], ['"graph_id":"g"']], exact: true })
    const shared = readMetadataFilter({ $or: [{ owner: 'a' }, { shared: true }] })
    expect(clausesOf({ allowed: shared }))
      .toEqual({ clauses: [['"owner":"a"', '"shared":true']], exact: true })
    const team = readMetadataFilter({ $or: [{ owner: 'a', team: 'b' }, { shared: true }] })
    expect(clausesOf({ allowed: team }))
      .toEqual({ clauses: [['"owner":"a"', '"shared":true']], exact: false })
    expect(isMatch('{"owner":"a"}', { allowed: team })).toBe(false)
    const list = readMetadataFilter({ team: { $contains: 'b' } })
    expect(clausesOf({ allowed: list })).toEqual({ clauses: [['"team":[']], exact: false })
  })

  it('of hidden rows, and of characters that an index mixes up, are checked in documents', () => {
    const owner = readMetadataFilter({ owner: 'a' })
    expect(clausesOf({ allowed: owner, hidden: true })).toEqual({ clauses: [], exact: false })
    expect(clausesOf({ metadata: { owner: '\u{FFFD}' } }).exact).toBe(false)
    expect(isMatch('{"owner":"\\ud800"}', { metadata: { owner: '\u{FFFD}' } })).toBe(false)
  })

  it('matches every document that has more', () => {
    expectAlways(fc.property(metadata, metadata, (one, more) => {
      expect(isMatch(JSON.stringify({ ...more, ...one }), { metadata: one })).toBe(true)
    }))
  })

  it.each([
    ['{"a":[1,2,[3]]}', '{"a":[2]}', true],
    ['{"a":[1,2]}', '{"a":[2,2,1]}', true],
    ['{"a":[1,2]}', '{"a":1}', false],
    ['{"a":[{"b":1,"c":2}]}', '{"a":[{"b":1}]}', true],
    ['{"a":[{"b":1},{"c":2}]}', '{"a":[{"b":1,"c":2}]}', false],
    ['{"a":{"b":{"c":1,"d":2}}}', '{"a":{"b":{"c":1}}}', true],
    ['{"a":{}}', '{"a":[]}', false],
    ['{"a":null}', '{"a":null}', true],
    ['{}', '{"a":null}', false],
    ['{"a":1.0}', '{"a":1}', true],
    ['', '{}', true],
    ['{}', '{"constructor":{}}', false],
  ])('%s matches %s: %s', (whole, part, expected) => {
    expect(isMatch(whole, { metadata: JSON.parse(part) as object as Members })).toBe(expected)
  })

  it('have at most eight clauses of each part, and are checked for the rest', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, index]))
    const both = { metadata: many, allowed: readMetadataFilter(many) }
    const { clauses, exact } = clausesOf(both)
    expect([clauses.length, exact]).toEqual([8, false])
    expect(isMatch(JSON.stringify(many), both)).toBe(true)
    expect(isMatch(JSON.stringify({ ...many, k49: 0 }), both)).toBe(false)
  })
})
