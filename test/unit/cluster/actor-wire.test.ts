/** Values that cross to another member: what comes out is what went in. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { plainValues } from '../../../cluster/index.ts'

const cross = (value: unknown) => plainValues.decode(plainValues.encode(value))

describe('plain values', () => {
  it('come out as they went in', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      expect(cross(value)).toEqual(JSON.parse(JSON.stringify(value)))
    }))
  })

  it('may be any text, and nothing at all', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => {
      expect(cross(text)).toBe(text)
      expect(cross({ text })).toEqual({ text })
    }))
    expect(cross(undefined)).toBeUndefined()
  })

  it('lose properties that are undefined, which is as good as having none', () => {
    expect(cross({ head: undefined, seq: 1 })).toEqual({ seq: 1 })
  })
})
