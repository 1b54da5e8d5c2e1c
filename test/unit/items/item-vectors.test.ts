/** What an embedding may return: vectors that can be stored and compared. */

import { expect, it } from 'vitest'

import { vectorOf, vectorsOf } from '../../../src/items/item-vectors.ts'

const index = (made: unknown) => ({ dims: 2, fields: ['$'], embed: async () => made })

it.each([
  ['text', 'no vectors'],
  ['too few vectors', []],
  ['a vector of the wrong length', [[1]]],
  ['numbers as text', [['1', '2']]],
  ['no number', [[1, NaN]]],
  ['a number that 32 bits cannot hold', [[1, 1e39]]],
])('an embedding that returns %s is refused for good', async (_, made) => {
  const refused = { code: 'graph_failed' }
  await expect(vectorsOf(index(made), { a: 1 })).rejects.toMatchObject(refused)
  await expect(vectorOf(index(made), 'a')).rejects.toMatchObject(refused)
})

it('vectors are kept as floats of 32 bits', async () => {
  const { vectors, dims } = await vectorsOf(index([[1, -2]]), { a: 1 })
  expect([...new Float32Array(new Uint8Array(Buffer.from(vectors, 'base64')).buffer)])
    .toEqual([1, -2])
  expect(dims).toBe(2)
})
