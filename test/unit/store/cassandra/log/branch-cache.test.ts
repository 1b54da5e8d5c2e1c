/** Branch writers that a member retains: bounded by number and by bytes, without those in use. */

import { expect, it } from 'vitest'

import { BranchCache } from '../../../../../src/store/cassandra/log/branch-cache.ts'
import type { BranchWriter } from '../../../../../src/store/cassandra/log/branch-writer.ts'

function writer(branchId: string, heldBytes: number, idle = true): BranchWriter {
  return { branchId, heldBytes, idle, lost: false } as Partial<BranchWriter> as BranchWriter
}

const ids = Array.from({ length: 10 }, (_, i) => `b${i}`)

it('drops the writers that were used least recently above a number of bytes', () => {
  const cache = new BranchCache(100, 5_000)
  for (const id of ids) cache.put(writer(id, 1_000))
  expect(ids.filter((id) => cache.get(id))).toEqual(ids.slice(5))
})

it('drops them above a number of writers as well', () => {
  const cache = new BranchCache(3, 5_000)
  for (const id of ids) cache.put(writer(id, 1))
  expect(ids.filter((id) => cache.get(id))).toEqual(ids.slice(7))
})

it('retains each writer with rows in flight', () => {
  const cache = new BranchCache(3, 5_000)
  for (const id of ids) cache.put(writer(id, 10_000, false))
  expect(ids.filter((id) => cache.get(id))).toEqual(ids)
})
