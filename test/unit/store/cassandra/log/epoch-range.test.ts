/** Epoch ranges tell for each row which partition it is in. */

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { decodeRanges, encodeRanges, slicesOf, rangeAt,
  rangesThrough } from '../../../../../src/store/cassandra/log/epoch-range.ts'
import { expectAlways } from '../../../../support/expect-always.ts'

const lists = fc.array(
  fc.record({ epochs: fc.nat(3), buckets: fc.nat(2), rows: fc.integer({ min: 1, max: 5 }) }),
  { maxLength: 8 },
).map((steps) => {
  let [epoch, bucket, from] = [1, 0, 1]
  return steps.map(({ epochs, buckets, rows }) => {
    const range = { epoch, bucket, from }
    epoch += epochs
    bucket += buckets
    from += rows
    return range
  })
})

describe('stretches', () => {
  it('are decoded as they were encoded', () => {
    expectAlways(fc.property(lists, (list) => {
      expect(decodeRanges(encodeRanges(list))).toEqual(list)
    }))
  })

  it('tell where a row is', () => {
    expectAlways(fc.property(lists, fc.nat(45), (list, seq) => {
      expect(rangeAt(list, seq)).toEqual(list.findLast(({ from }) => from <= seq))
    }))
  })

  it('have every row of a range once, in order, with its partition', () => {
    expectAlways(fc.property(lists, fc.nat(45), fc.nat(45), (list, from, through) => {
      const rows = slicesOf(list, from, through).flatMap((slice) =>
        Array.from({ length: slice.through - slice.from + 1 },
          (_, index) => ({ seq: slice.from + index, epoch: slice.epoch, bucket: slice.bucket }))
      )
      const first = Math.max(from, list[0]?.from ?? Infinity)
      const expected = Array.from({ length: Math.max(0, through - first + 1) }, (_, index) => {
        const { epoch, bucket } = rangeAt(list, first + index)!
        return { seq: first + index, epoch, bucket }
      })
      expect(rows).toEqual(first === Infinity ? [] : expected)
    }))
  })

  it('end with the epoch range of a fork point', () => {
    expectAlways(fc.property(lists, fc.nat(45), (list, through) => {
      expect(rangesThrough(list, through)).toEqual(list.filter(({ from }) => from <= through))
    }))
  })
})
