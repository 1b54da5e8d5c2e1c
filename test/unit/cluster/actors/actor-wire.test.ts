/** Plain values that cross to another member: they are decoded as they were encoded. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { plainValues } from '../../../../cluster/index.ts'
import { expectAlways } from '../../../support/expect-always.ts'

const cross = (value: unknown) => plainValues.decode(plainValues.encode(value))

describe('plain values', () => {
  it('are decoded as they were encoded', () => {
    expectAlways(fc.property(fc.jsonValue(), (value) => {
      expect(cross(value)).toEqual(JSON.parse(JSON.stringify(value)))
    }))
  })

  it('may be any text, or undefined', () => {
    expectAlways(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(cross(text)).toBe(text)
      expect(cross({ text })).toEqual({ text })
    }))
    expect(cross(undefined)).toBeUndefined()
  })

  it('lose properties that are undefined', () => {
    expect(cross({ head: undefined, seq: 1 })).toEqual({ seq: 1 })
  })
})
