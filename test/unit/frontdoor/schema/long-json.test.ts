/** Whether JSON is too long: the same as making its text would say. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { isLongJson } from '../../../../src/frontdoor/schema/long-json.ts'
import { expectAlways } from '../../../support/expect-always.ts'

it('A value is too long if its text is.', () => {
  const text = fc.oneof(fc.string(), fc.constantFrom('\n\n\n', '""', '\u0000'))
  const { json } = fc.letrec((tie) => ({
    json: fc.oneof({ maxDepth: 4 }, text, fc.integer(), fc.boolean(), fc.constant(null),
      fc.array(tie('json')), fc.dictionary(text, tie('json'))),
  }))
  expectAlways(fc.property(json, fc.nat(100), (value, max) => {
    expect(isLongJson(value, max)).toBe(JSON.stringify(value).length > max)
  }))
})
