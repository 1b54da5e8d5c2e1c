/** Values of unknown shape, read without trust in it. */

import { describe, expect, it } from 'vitest'

import { isOneOf, listOf, memberOf, namesIn, objectIn, objectOf, textAt,
  valueIn } from '../../../src/json/index.ts'

describe('values of unknown shape', () => {
  it('have the members that are there', () => {
    expect(memberOf({ id: 1 }, 'id')).toBe(1)
    expect(memberOf(['first'], 0)).toBe('first')
    expect(memberOf(function named() {}, 'name')).toBe('named')
    for (const value of [null, undefined, 'text', 1, {}]) {
      expect(memberOf(value, 'id')).toBeUndefined()
    }
  })

  it('have a text only where one is', () => {
    expect(textAt({ code: 'ENOENT' }, 'code')).toBe('ENOENT')
    expect(textAt({ code: 5 }, 'code')).toBeUndefined()
  })

  it('are empty objects and lists in the place of other values', () => {
    const [object, list] = [{ id: 1 }, [1]]
    expect(objectOf(object)).toBe(object)
    expect(listOf(list)).toBe(list)
    for (const value of [null, 'text', 1]) {
      expect([objectOf(value), listOf(value)]).toEqual([{}, []])
    }
    expect([objectOf(list), listOf(object)]).toEqual([{}, []])
  })

  it('come from JSON', () => {
    expect(valueIn('[1]')).toEqual([1])
    expect(objectIn('{"id":1}')).toEqual({ id: 1 })
    expect(objectIn('[1]')).toEqual({})
    expect(() => objectIn('{')).toThrow(SyntaxError)
  })

  it('are one of a list, or not', () => {
    expect(isOneOf(['yes', 'no'], 'no')).toBe(true)
    expect(isOneOf(['yes', 'no'], 'toString')).toBe(false)
  })

  it('are the names of a table', () => {
    expect(namesIn({ yes: 1, no: 2 })).toEqual(['yes', 'no'])
  })
})
