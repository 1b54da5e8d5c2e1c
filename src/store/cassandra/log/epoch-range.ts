/** Epoch ranges: the partition of each row of a branch, and the epoch that wrote it. */

import { EpochRanges } from '../../../../proto/gen/storage/v1/partition.ts'
import type { EpochRange } from '../../../../proto/gen/storage/v1/partition.ts'
import { bytesOf } from '../../../checkpoint/index.ts'

export type { EpochRange }

/** The ranges of a branch in the order of its rows. `from`, `epoch` and `bucket` never go down. */
export type EpochRangeList = readonly EpochRange[]

/** Rows `from` to `through` of one epoch in one bucket. */
export interface Slice {
  readonly epoch: number
  readonly bucket: number
  readonly from: number
  readonly through: number
}

/** The bytes of a list, as rows of the log store them. */
export function encodeRanges(ranges: EpochRangeList): Uint8Array {
  return bytesOf(EpochRanges, { ranges: [...ranges] })
}

/** The list in these bytes. */
export function decodeRanges(bytes: Uint8Array): EpochRangeList {
  return EpochRanges.decode(bytes).ranges
}

/** The epoch range of row `seq`; undefined before the first one. */
export function rangeAt(ranges: EpochRangeList, seq: number): EpochRange | undefined {
  return ranges[indexAt(ranges, seq)]
}

/** Slices with rows `from` to `through`, in order. Each is as long as it can be. */
export function slicesOf(ranges: EpochRangeList, from: number, through: number): Slice[] {
  const slices: Slice[] = []
  for (let i = Math.max(0, indexAt(ranges, from)); i < ranges.length; i++) {
    const range = ranges[i]!
    if (range.from > through) break
    const last = Math.min(through, (ranges[i + 1]?.from ?? Infinity) - 1)
    const { epoch, bucket } = range
    slices.push({ epoch, bucket, from: Math.max(from, range.from), through: last })
  }
  return slices.filter((slice) => slice.from <= slice.through)
}

/** The epoch ranges up to row `through`. */
export function rangesThrough(ranges: EpochRangeList, through: number): EpochRangeList {
  return ranges.slice(0, indexAt(ranges, through) + 1)
}

/** Index of the last epoch range that begins at or before row `seq`; -1 if none does. */
function indexAt(ranges: EpochRangeList, seq: number): number {
  let low = 0
  let high = ranges.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (ranges[middle]!.from <= seq) low = middle + 1
    else high = middle
  }
  return low - 1
}
