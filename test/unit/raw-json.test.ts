/** Raw values are joined as they are, found again in the text, and cross between members. */

import { rawValues } from '../../src/json/index.ts'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { RawJson, textOf, textWithPlaces, valueOf } from '../../src/raw-json.ts'
import { expectAlways } from '../support/expect-always.ts'

const json = fc.jsonValue({ maxDepth: 2 })
const part = fc.oneof(json, json.map((value) => new RawJson(JSON.stringify(value))))
const holder = fc.dictionary(fc.oneof(fc.string(), fc.constantFrom('__proto__', 'toJSON ')),
  fc.oneof(part, fc.array(part, { maxLength: 3 }), fc.dictionary(fc.string(), part)))

describe('an object with raw values', () => {
  it('has the same text as one without, and is found in it again', () => {
    expectAlways(fc.property(holder, (object) => {
      const plain = JSON.parse(JSON.stringify(object)) as unknown
      expect(JSON.parse(textOf(object))).toEqual(plain)
      const { text, places } = textWithPlaces(object)
      const again = valueOf({ text, places })
      expect(textOf(again)).toBe(text)
      for (const [, from, to] of places) JSON.parse(text.slice(from, to))
    }))
  })

  it('crosses to another member, which may be an older one', () => {
    expectAlways(fc.property(holder, (object) => {
      const bytes = rawValues.encode(object)
      expect(textOf(rawValues.decode(bytes))).toBe(textOf(object))
      const old = JSON.parse(Buffer.from(bytes.subarray(1)).toString()) as Record<string, unknown>
      delete old['~raw']
      expect(old).toEqual(JSON.parse(JSON.stringify(object)))
    }))
  })
})

it('A value that is not raw crosses as it always did.', () => {
  expect(Buffer.from(rawValues.encode({ a: [1, undefined] }).subarray(1)).toString())
    .toBe('{"a":[1,null]}')
})
