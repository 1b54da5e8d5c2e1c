/** Containment: how filters by metadata or state match. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { contains, nestedInLists } from '../../../src/json/containment.ts'
import { expectAlways } from '../../support/expect-always.ts'

it.each([
  [{ a: 1, b: 2 }, { a: 1 }, true],
  [{ a: 1 }, { a: 2 }, false],
  [{ a: 1 }, { b: undefined }, false],
  [{ a: { b: 1, c: 2 } }, { a: { c: 2 } }, true],
  [{ a: 1 }, { a: '1' }, false],
  [{ a: [1, { b: 2, c: 3 }] }, { a: [{ b: 2 }] }, true],
  [{ a: [1] }, { a: [1, 2] }, false],
  [{ a: 1 }, { a: [1] }, false],
  [{ a: null }, { a: null }, true],
  [{}, { toString: {} }, false],
])('%j contains %j: %j', (whole, part, expected) => {
  expect(contains(whole, part)).toBe(expected)
})

it('Every object contains itself, even with more added to it.', () => {
  const object = fc.dictionary(fc.string(), fc.jsonValue())
  expectAlways(fc.property(object, fc.jsonValue(), (whole, more) => {
    expect(contains(whole, whole)).toBe(true)
    expect(contains({ ...whole, 'more!': more }, whole)).toBe(true)
  }))
})

it('Long lists are compared without comparing each element with each.', () => {
  const list = Array.from({ length: 300_000 }, (_, n) => n)
  expect(contains({ list }, { list: list.toReversed() })).toBe(true)
  expect(contains({ list }, { list: [...list, -1] })).toBe(false)
})

it('Objects and lists inside lists are counted with their elements.', () => {
  expect(nestedInLists({ a: [1, 'x', null], b: { c: 1 } })).toBe(0)
  expect(nestedInLists({ a: [{}, [{ b: [[]] }]] })).toBe(5)
  expect(nestedInLists({ a: [[1, 1, 1], { b: 2 }] })).toBe(6)
})
