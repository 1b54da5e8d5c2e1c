/**
 * A distribution of numbers: their sum and bounds, and how many lie in each bucket. Buckets are
 * 1/32 of an octave wide, so a percentile is at most 1.1 % off.
 */

/** Buckets and how many numbers each has. Bucket 0 has all below 1. A map of them will do. */
export interface Buckets {
  forEach(visit: (count: number, bucket: number) => void): void
}

/** A distribution that others may be made of. */
export interface KeptDistribution {
  readonly count: number
  readonly sum: number
  readonly min: number
  readonly max: number
  readonly buckets: Buckets
}

/** Grows by `addNumber` and `addDistribution`. */
export interface Distribution extends KeptDistribution {
  count: number
  sum: number
  min: number
  max: number
  readonly buckets: Map<number, number>
}

const bucketsOfOctave = 32

/** A distribution without any numbers. */
export function emptyDistribution(): Distribution {
  return { count: 0, sum: 0, min: Infinity, max: -Infinity, buckets: new Map() }
}

/** Adds a number. `scale` makes those that matter larger than 1. */
export function addNumber(into: Distribution, value: number, scale = 1): void {
  const scaled = value * scale
  const bucket = scaled < 1 ? 0 : 1 + Math.floor(Math.log2(scaled) * bucketsOfOctave)
  into.count += 1
  into.sum += value
  if (value < into.min) into.min = value
  if (value > into.max) into.max = value
  into.buckets.set(bucket, (into.buckets.get(bucket) ?? 0) + 1)
}

/** Adds all of another one with the same scale. */
export function addDistribution(into: Distribution, other: KeptDistribution): void {
  into.count += other.count
  into.sum += other.sum
  into.min = Math.min(into.min, other.min)
  into.max = Math.max(into.max, other.max)
  const { buckets } = into
  other.buckets.forEach((count, bucket) => {
    buckets.set(bucket, (buckets.get(bucket) ?? 0) + count)
  })
}

/** The number that this share of all numbers does not exceed; null without numbers. */
export function percentileOf({ count, min, max, buckets }: Distribution, share: number, scale = 1):
  | number
  | null {
  if (count === 0) return null
  let left = Math.max(1, Math.ceil(share * count))
  // The first and the last are known.
  if (left === 1) return min
  if (left === count) return max
  for (const [bucket, own] of [...buckets].toSorted(([a], [b]) => a - b)) {
    left -= own
    if (left > 0) continue
    const middle = bucket === 0 ? 0 : 2 ** ((bucket - 0.5) / bucketsOfOctave) / scale
    return Math.min(max, Math.max(min, middle))
  }
  return max
}

/** The mean; null without numbers. */
export function meanOf({ count, sum }: Distribution): number | null {
  return count === 0 ? null : sum / count
}
