/** Which values a filter takes: the same as LangGraph's own store, and equal objects as well. */

import fc from 'fast-check'
import { InMemoryStore } from '@langchain/langgraph'
import { expect, it } from 'vitest'

import { passes } from '../../../src/search/item-filter.ts'
import { expectAlways } from '../../support/expect-always.ts'

const scalar = fc.constantFrom(0, 1, 2, 10, '1', '2', '10', 'a', '', true, false, null)
const name = fc.constantFrom('a', 'b')
const operators = fc.dictionary(
  fc.constantFrom('$eq', '$ne', '$gt', '$gte', '$lt', '$lte'),
  scalar,
  { minKeys: 1, maxKeys: 2 },
)
const lists = fc.dictionary(fc.constantFrom('$in', '$nin'), fc.array(scalar, { maxLength: 3 }), {
  minKeys: 1,
})
const filter = fc.dictionary(name, fc.oneof(scalar, operators, lists), { maxKeys: 2 })

it('of scalars it takes what the library takes', async () => {
  await expectAlways(
    fc.asyncProperty(fc.dictionary(name, scalar), filter, async (value, wanted) => {
      const store = new InMemoryStore()
      await store.put(['a'], 'k', value)
      const found = await store.search(['a'], { filter: wanted })
      expect(passes(value, wanted)).toBe(found.length === 1)
    }),
  )
})

it('of objects and lists it takes equal ones', () => {
  expect(passes({ a: { b: [1] } }, { a: { b: [1] } })).toBe(true)
  expect(passes({ a: { b: [1] } }, { a: { b: [2] } })).toBe(false)
  expect(passes({ a: [1] }, { a: { $in: [[1]] } })).toBe(true)
  expect(passes({}, { toString: undefined })).toBe(true)
  expect(passes({ a: 1 }, { a: { $exists: true } })).toBe(false)
})
