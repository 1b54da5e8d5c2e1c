/** Vectors in memory: read once, brought up to date, and bounded. */

import { expect, it } from 'vitest'

import type { Database } from '../../../../../src/store/embedded/file/database.ts'
import { bestCosine, unit,
  VectorCache } from '../../../../../src/store/embedded/search/vector-cache.ts'

/** A table of vectors of one number, the newest version last. */
function table(...rows: readonly (readonly [no: number, version: number, dims?: number])[]) {
  let reads = 0
  const all = (_: string, after: number) => {
    const later = rows.filter(([, version]) => version > after).slice(0, 256)
    reads += later.length
    return later.map((
      [no, version, dims = 1],
    ) => [no, version, dims, new Uint8Array(Float32Array.of(no).buffer), 'a.', `k${no}`, 0, 0])
  }
  return { database: { prepare: () => ({ all }) } as unknown as Database, reads: () => reads }
}

function done<Result>(steps: Generator<void, Iterable<Result>, void>): Result[] {
  for (;;) {
    const { done: isDone, value } = steps.next()
    if (isDone) return [...value]
  }
}

it('rows are read once, and again when they have changed', () => {
  const cache = new VectorCache()
  const first = table([1, 1], [2, 2])
  expect(done(cache.of(first.database, 't', '')).map(({ no }) => no)).toEqual([1, 2])
  done(cache.of(first.database, 't', ''))
  expect(first.reads()).toBe(2)
  const later = table([1, 1], [2, 3, 0], [3, 4])
  expect(done(cache.of(later.database, 't', '')).map(({ no }) => no)).toEqual([1, 3])
  expect(later.reads()).toBe(2)
})

it('a tenant with more vectors than there is memory for is refused', () => {
  const many = table([1, 1], [2, 2], [3, 3])
  expect(() => done(new VectorCache(8).of(many.database, 't', ''))).toThrow('by meaning')
  expect(done(new VectorCache(12).of(many.database, 't', ''))).toHaveLength(3)
})

it('a tenant that was not searched for long makes room', () => {
  const cache = new VectorCache(8)
  const [one, other] = [table([1, 1]), table([2, 1], [3, 2])]
  done(cache.of(one.database, 'one', ''))
  done(cache.of(other.database, 'other', ''))
  done(cache.of(one.database, 'one', ''))
  expect([one.reads(), other.reads()]).toEqual([2, 2])
})

it('the cosine is of the best vector, and 0 for one without a length', () => {
  const item = { no: 1, namespace: '', key: '', updatedAtMs: 0, expiresAtMs: 0, dims: 2,
    vectors: Float32Array.from([...unit([3, 0]), ...unit([1, 1]), ...unit([0, 0])]) }
  expect(bestCosine(item, unit([0, 2]))).toBeCloseTo(Math.SQRT1_2, 6)
  expect(bestCosine({ ...item, vectors: unit([0, 0]) }, unit([0, 2]))).toBe(0)
})
