/** A counter for each bucket of time. */

import type { SpanHead } from '../../spans/span.ts'
import type { Counter } from './count.ts'
import type { CellKey } from './roll-up.ts'
import type { KeptTally } from './tally.ts'

/** Hands what is counted to the counter of its bucket. Hours must not be cut by buckets. */
export class TimeBuckets<Own extends Counter> implements Counter {
  /** By the start of their bucket. */
  readonly counters = new Map<number, Own>()
  readonly #strideUs: number
  readonly #make: () => Own

  constructor(strideUs: number, make: () => Own) {
    this.#strideUs = strideUs
    this.#make = make
  }

  cell(startUs: number, key: CellKey | undefined, tally: KeptTally): void {
    this.#at(bucketOf(startUs, this.#strideUs)).cell(startUs, key, tally)
  }

  async heads(heads: readonly SpanHead[]): Promise<void> {
    const byBucket = Map.groupBy(heads, ({ startUs }) => bucketOf(startUs, this.#strideUs))
    for (const [bucketUs, own] of byBucket) await this.#at(bucketUs).heads(own)
  }

  #at(bucketUs: number): Own {
    const found = this.counters.get(bucketUs)
    if (found !== undefined) return found
    const made = this.#make()
    this.counters.set(bucketUs, made)
    return made
  }
}

/** The start of the bucket: buckets begin at multiples of the stride. */
export function bucketOf(startUs: number, strideUs: number): number {
  return Math.floor(startUs / strideUs) * strideUs
}
