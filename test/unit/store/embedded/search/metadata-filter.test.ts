/** The tokens of a metadata filter never exclude a match, and are exact without a remainder. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { holds, metadataFilter,
  tokensOf } from '../../../../../src/store/embedded/search/metadata-filter.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const scalar = fc.oneof(fc.constantFrom<unknown>(0, 1, '1', '', true, false, null),
  fc.constantFrom('x'.repeat(250), `${'x'.repeat(250)}y`))
const value = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3, depthSize: 'small' }, scalar,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b'), tie('value'), { maxKeys: 2 })),
})).value
const keys = fc.constantFrom('a', 'b', 'c', 'k'.repeat(250), `${'k'.repeat(250)}l`)
const metadata = fc.dictionary(keys, value, { maxKeys: 4 })

describe('a metadata filter', () => {
  it('has only tokens that every matching document has', () => {
    expectAlways(fc.property(metadata, metadata, (whole, part) => {
      const held = holds(JSON.stringify(whole), JSON.stringify(part))
      const tokens = tokensOf(JSON.stringify(whole))
      const found = metadataFilter(part).tokens.every((token) => tokens.includes(token))
      if (held) expect(found).toBe(true)
      if (metadataFilter(part).remainder === undefined) expect(found).toBe(held)
    }))
  })

  it('matches every document that has more', () => {
    expectAlways(fc.property(metadata, metadata, (one, more) => {
      expect(holds(JSON.stringify({ ...more, ...one }), JSON.stringify(one))).toBe(true)
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
    expect(holds(whole, part)).toBe(expected)
  })

  it('has at most eight tokens, and a remainder to compare with documents', () => {
    const many = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`k${index}`, index]))
    const { tokens, remainder } = metadataFilter(many)
    expect(tokens.length).toBe(8)
    expect(JSON.parse(remainder!)).toEqual(many)
  })
})
