/** Bodies that are lists: both spellings, bounds, and what is said about faults. */

import { Type } from 'typebox'
import { expect, it } from 'vitest'

import { listCheckerOf } from '../../../../src/frontdoor/schema/list-checker.ts'
import type { ListSchema } from '../../../../src/frontdoor/schema/list-checker.ts'

const Item = Type.Object({ a_b: Type.Optional(Type.Integer()), c: Type.Optional(Type.Null()) }, {
  'x-not-offered': ['no_way'],
})
const check = listCheckerOf(
  Type.Array(Item, { minItems: 1, maxItems: 3 }) as ListSchema<typeof Item>,
)

const faultsOf = (value: unknown): unknown => {
  try {
    return check(value)
  } catch (error) {
    return (error as { details: { errors: { field: string }[] } }).details.errors
      .map(({ field }) => field)
  }
}

it('A list takes both spellings of a field, and the one with underscores wins.', () => {
  expect(check([{ a_b: 1 }, { aB: 2, other: 3 }, { a_b: 1, aB: 'wrong', c: null }]))
    .toEqual([{ a_b: 1 }, { a_b: 2 }, { a_b: 1, c: null }])
})

it('A list is refused for its first wrong object, with the index before each field.', () => {
  expect(faultsOf([{ a_b: 1 }, { aB: 'x', c: 1 }, 7])).toEqual(['1.a_b', '1.c'])
  expect(faultsOf([7])).toEqual(['0'])
  expect(faultsOf([{ noWay: true }])).toEqual(['0.no_way'])
  for (const wrong of [[], [{}, {}, {}, {}], {}, undefined, 'x']) {
    expect(faultsOf(wrong)).toEqual([''])
  }
})

it('A list is checked at once, whatever its objects have beside the fields of the schema.', () => {
  const many = Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`k${i}`, i]))
  const before = process.threadCpuUsage()
  for (let n = 0; n < 20; n++) check([many, many, many])
  // Time of other processes does not count.
  const { user, system } = process.threadCpuUsage(before)
  expect((user + system) / 1_000).toBeLessThan(1_000)
})
