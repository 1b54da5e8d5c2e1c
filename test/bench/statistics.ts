/** Medians, ranges and ratios of measurements. */

/** The value below which the given share lies; `values` need not be sorted. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const index = (sorted.length - 1) * share
  const below = sorted[Math.floor(index)] ?? NaN
  const above = sorted[Math.ceil(index)] ?? NaN
  return below + (above - below) * (index - Math.floor(index))
}

export function median(values: readonly number[]): number {
  return quantile(values, 0.5)
}

/** The median of several rounds and the smallest and largest among them. */
export interface Spread {
  readonly median: number
  readonly low: number
  readonly high: number
}

export function spreadOf(values: readonly number[]): Spread {
  return { median: median(values), low: Math.min(...values), high: Math.max(...values) }
}

/** The spread with the largest value as its median, where the worst case counts. */
export function worstOf(values: readonly number[]): Spread {
  const { low, high } = spreadOf(values)
  return { median: high, low, high }
}

/** The ratio of each value to the other one of the same round. */
export function ratios(values: readonly number[], ended: readonly number[]): number[] {
  return values.map((value, round) => value / (ended[round] ?? NaN))
}
