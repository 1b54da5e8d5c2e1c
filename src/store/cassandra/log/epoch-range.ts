/** Stretches: which partition each row of a branch lies in, and which epoch wrote it. */

import { Stretches } from '../../../../proto/gen/storage/v1/partition.ts'
import type { Stretch } from '../../../../proto/gen/storage/v1/partition.ts'
import { bytesOf } from '../../../checkpoint/index.ts'

export type { Stretch }

/** All of a branch, in the order of its rows: `from`, `epoch` and `bucket` never go down. */
export type StretchList = readonly Stretch[]

/** Rows `from` to `through` of one epoch in one bucket. */
export interface Slice {
  readonly epoch: number
  readonly bucket: number
  readonly from: number
  readonly through: number
}

export function encodeStretches(stretches: StretchList): Uint8Array {
  return bytesOf(Stretches, { stretches: [...stretches] })
}

export function decodeStretches(bytes: Uint8Array): StretchList {
  return Stretches.decode(bytes).stretches
}

/** The stretch that row `seq` is in; undefined before the first one. */
export function stretchAt(stretches: StretchList, seq: number): Stretch | undefined {
  return stretches[indexAt(stretches, seq)]
}

/** Where rows `from` to `through` are, in their order, each slice as long as it can be. */
export function slicesOf(stretches: StretchList, from: number, through: number): Slice[] {
  const slices: Slice[] = []
  for (let i = Math.max(0, indexAt(stretches, from)); i < stretches.length; i++) {
    const stretch = stretches[i]!
    if (stretch.from > through) break
    const last = Math.min(through, (stretches[i + 1]?.from ?? Infinity) - 1)
    const { epoch, bucket } = stretch
    slices.push({ epoch, bucket, from: Math.max(from, stretch.from), through: last })
  }
  return slices.filter((slice) => slice.from <= slice.through)
}

/** The stretches without what lies after row `through`. */
export function stretchesThrough(stretches: StretchList, through: number): StretchList {
  return stretches.slice(0, indexAt(stretches, through) + 1)
}

/** The last stretch that begins at or before row `seq`; -1 if none does. */
function indexAt(stretches: StretchList, seq: number): number {
  let low = 0
  let high = stretches.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if (stretches[middle]!.from <= seq) low = middle + 1
    else high = middle
  }
  return low - 1
}
