/** Reading a log row by row: all rows, and only few at a time if they are large. */

import fc from 'fast-check'
import { expect, it } from 'vitest'

import { ReadBytes, rowsOf } from '../../../src/checkpoint/index.ts'
import type { LogRange } from '../../../src/checkpoint/index.ts'
import { expectAlways } from '../../support/expect-always.ts'

const branch = { id: 'b', ancestors: [] }
const megabyte = 1024 * 1024

/** A log whose rows have `bytesOf(seq)` bytes, and the ranges that were read of it. */
function logOf(bytesOf: (seq: number) => number) {
  const reads: LogRange[] = []
  const returned: number[] = []
  return {
    reads,
    /** How many rows each of them returned. */
    returned,
    async read(_: unknown, range: LogRange) {
      reads.push(range)
      if (reads.length > 1_000) throw new Error('It is read without end.')
      const { from, through, reverse = false } = range
      const rows = Array.from({ length: through - from + 1 },
        (_, i) => ({ epoch: 1, seq: from + i, body: new Uint8Array(bytesOf(from + i)) }))
      const quota = new ReadBytes(range)
      const ordered = reverse ? rows.reverse() : rows
      const end = ordered.findIndex(({ body }) => !quota.takes(body.byteLength))
      const read = end < 0 ? ordered : ordered.slice(0, end)
      returned.push(read.length)
      return read
    },
  }
}

const sizeOf = ({ from, through }: LogRange) => through - from + 1

it('A log is read from the first row to the last, or back.', async () => {
  const small = fc.integer({ min: 0, max: 3 })
  await expectAlways(
    fc.asyncProperty(fc.nat(900), fc.nat(900), fc.boolean(), small,
      async (from, more, reverse, bytes) => {
        const log = logOf((seq) => seq % 7 === 0 ? 10_000 * bytes : bytes)
        const seqs: number[] = []
        const through = from + more - 1
        for await (const { seq } of rowsOf({ log, branch, from, through, reverse })) seqs.push(seq)
        const wanted = Array.from({ length: more }, (_, i) => from + i)
        expect(seqs).toEqual(reverse ? wanted.reverse() : wanted)
      }),
  )
})

it.each([false, true])('Small rows are read in few pieces (back: %s).', async (reverse) => {
  const log = logOf(() => 100)
  for await (const _ of rowsOf({ log, branch, from: 1, through: 1_000, reverse, first: 16 }));
  expect(log.reads.map(sizeOf)).toEqual([16, 64, 256, 256, 256, 152])
})

it('Large rows are read in small pieces, and rows after them in larger ones.', async () => {
  const log = logOf((seq) => seq <= 40 ? megabyte : 100)
  for await (const _ of rowsOf({ log, branch, from: 1, through: 100, first: 16 }));
  expect(log.returned).toEqual([4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 4, 16, 40])
})

it('Rows are read in pieces of a few megabytes, also where small ones came before.', async () => {
  const log = logOf((seq) => seq <= 300 ? 100 : megabyte)
  for await (const _ of rowsOf({ log, branch, from: 1, through: 400, first: 64 }));
  expect(Math.max(...log.returned.slice(3))).toBe(4)
  expect(log.returned.reduce((sum, rows) => sum + rows)).toBe(400)
})

it('is read row by row if each row is larger than a piece may be', async () => {
  const log = logOf(() => 5 * megabyte)
  const rows = rowsOf({ log, branch, from: 1, through: 3, first: 1 })
  for (const seq of [1, 2, 3]) expect((await rows.next()).value).toMatchObject({ seq })
  expect(log.reads.map(sizeOf)).toEqual([1, 1, 1])
})
