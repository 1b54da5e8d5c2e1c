/** Encodes buckets: for each, its distance from the one before and the count of its numbers. */

import type { Buckets } from './distribution.ts'

/** Encodes buckets in ascending order, as numbers of variable length. */
export function writeBuckets(buckets: ReadonlyMap<number, number>): Uint8Array {
  const bytes: number[] = []
  let before = 0
  for (const [bucket, count] of [...buckets].toSorted(([a], [b]) => a - b)) {
    writeVarint(bytes, bucket - before)
    writeVarint(bytes, count)
    before = bucket
  }
  return Uint8Array.from(bytes)
}

/** Decodes buckets, each time that they are visited. */
export function bucketsIn(bytes: Uint8Array): Buckets {
  return { forEach(visit) {
    let [at, bucket] = [0, 0]
    const next = () => {
      let [value, shift] = [0, 1]
      for (;;) {
        const byte = bytes[at++] ?? 0
        value += (byte & 0x7f) * shift
        if (byte < 0x80) return value
        shift *= 128
      }
    }
    while (at < bytes.length) {
      bucket += next()
      visit(next(), bucket)
    }
  } }
}

function writeVarint(bytes: number[], value: number): void {
  let left = value
  for (; left >= 0x80; left = Math.floor(left / 128)) bytes.push(left % 128 + 0x80)
  bytes.push(left)
}
