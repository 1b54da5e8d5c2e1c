/**
 * Records of the write-ahead file are read back whole, in order, and no further than they are
 * whole.
 */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import type { WireBatch } from '../../../../../src/store/embedded/requests/wire-batch.ts'
import { headOf, lengthOf, recordsIn,
  sizeOf } from '../../../../../src/store/embedded/durable/write-ahead-record.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

interface Written {
  readonly file: Buffer
  /** Where each record ends. */
  readonly ends: readonly number[]
}

function writeAll(batches: readonly WireBatch[], first = 1, salt = 7): Written {
  let at = 0
  const ends: number[] = []
  const parts = batches.map(({ text, bytes }, index) => {
    const record = { text: Buffer.from(text), bytes }
    const part = Buffer.alloc(sizeOf(record))
    Buffer.concat([headOf(record, salt, first + index), record.text, bytes]).copy(part)
    ends.push(at + lengthOf(record))
    at += part.length
    return part
  })
  return { file: Buffer.concat([...parts, Buffer.alloc(8_192)]), ends }
}

const batch = fc.record({
  text: fc.string({ unit: 'binary', maxLength: 3_000 }),
  bytes: fc.uint8Array({ maxLength: 6_000 }).map((bytes) => new Uint8Array(bytes)),
})
const wireBatches = fc.array(batch, { minLength: 1, maxLength: 6 })

describe('the records of a write-ahead file', () => {
  it('are read back as they were written', () => {
    expectAlways(fc.property(wireBatches, (written) => {
      const read = [...recordsIn(writeAll(written).file)]
      expect(read.map(({ write }) => write)).toEqual(written)
      expect(read.map(({ number }) => number)).toEqual(written.map((_, index) => index + 1))
      expect(read.every(({ salt }) => salt === 7)).toBe(true)
    }))
  })

  it('end before the first that was not written to its end', () => {
    expectAlways(fc.property(wireBatches, fc.nat(), (written, index) => {
      const { file, ends } = writeAll(written)
      const cut = index % ends.at(-1)!
      // What was there before is still there behind the cut.
      file.fill(0xaa, cut)
      expect([...recordsIn(file)].length).toBe(ends.filter((end) => end <= cut).length)
    }))
  })

  it('end before the first in which a bit is wrong', () => {
    expectAlways(
      fc.property(wireBatches, fc.nat(), fc.integer({ min: 0, max: 7 }), (written, index, bit) => {
        const { file, ends } = writeAll(written)
        const at = index % ends.at(-1)!
        file[at]! ^= 1 << bit
        const whole = [...recordsIn(file)].length
        const before = ends.filter((end) => end <= at).length
        // Between two records nothing is written, and nothing is read.
        const inside = at < ends[before]! && at >= Math.ceil((ends[before - 1] ?? 0) / 4096) * 4096
        expect(whole).toBe(inside ? before : ends.length)
      }),
    )
  })

  it.each([
    ['an earlier round', 3, 7],
    ['an earlier life', 2, 6],
    ['another life with a gap', 4, 8],
  ])('do not continue with those of %s', (_, number, salt) => {
    const one = { text: '[]', bytes: new Uint8Array(10) }
    const file = Buffer.concat([writeAll([one], 1).file.subarray(0, 4_096),
      writeAll([one], number, salt).file])
    expect([...recordsIn(file)].map((record) => record.number)).toEqual([1])
  })

  it('of an empty file are none', () => {
    expect([...recordsIn(Buffer.alloc(100_000))]).toEqual([])
    expect([...recordsIn(Buffer.alloc(0))]).toEqual([])
  })
})
