/** Facets: the most frequent names and types of some spans, which suggest further filters. */

import type { SpanHead } from '../../spans/span.ts'
import type { CellKey } from './roll-up.ts'

/** Facets of each kind in an answer, and values of each kind that are counted. */
const [shownMax, countedMax] = [10, 1_000]

/** Fields of filters that have facets. */
const fields = { name: 'name', run_type: 'type' } as const

/** Counts names and types. Values beyond the bound are not counted. */
export class Facets {
  readonly #counts = { name: new Map<string, number>(), run_type: new Map<string, number>() }

  /** Counts the spans of a cell. */
  cell(key: Pick<CellKey, 'name' | 'type'>, count: number): void {
    for (const field of ['name', 'run_type'] as const) {
      const value = key[fields[field]]
      const counts = this.#counts[field]
      const known = value === null ? undefined : counts.get(value)
      if (value === null || (known === undefined && counts.size === countedMax)) continue
      counts.set(value, (known ?? 0) + count)
    }
  }

  /** Counts single spans. */
  heads(heads: readonly SpanHead[]): void {
    for (const head of heads) this.cell(head, 1)
  }

  /** Facets by frequency, the highest first, each with the filter that finds it. */
  json(): readonly Record<string, unknown>[] {
    return Object.entries(this.#counts).flatMap(([key, counts]) =>
      [...counts].toSorted(([a, one], [b, other]) => other - one || (a < b ? -1 : 1))
        .slice(0, shownMax)
        .map(([value, n]) => ({ key, value, n, query: `eq(${key}, ${JSON.stringify(value)})` }))
    )
  }
}
