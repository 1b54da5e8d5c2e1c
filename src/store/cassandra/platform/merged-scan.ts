/** Merges the scans of several projects into one order. */

import type { Plan, ScannedHeads, SpanHead } from '../../../platform/index.ts'

/** Heads of a slice, at most. */
const sliceMax = 500

/** A scan, and the results of it that were not taken yet. */
interface Source {
  readonly slices: AsyncIterator<ScannedHeads>
  heads: readonly SpanHead[]
  at: number
  ended: boolean
}

/** Slices of all scans together in the order of the plan. */
export async function* mergeScans(order: Plan['order'],
  scans: readonly AsyncIterator<ScannedHeads>[]): AsyncGenerator<ScannedHeads, void, void> {
  const sources: Source[] = scans.map((slices) => ({ slices, heads: [], at: 0, ended: false }))
  const before = order === 'newest'
    ? (a: SpanHead, b: SpanHead) => compareHeads(a, b) > 0
    : (a: SpanHead, b: SpanHead) => compareHeads(a, b) < 0
  for (;;) {
    const looked = await fill(sources)
    const heads: SpanHead[] = []
    // A source that is used up may have what comes next.
    while (heads.length < sliceMax &&
      sources.every(({ ended, heads: all, at }) => ended || at < all.length)) {
      const next = first(sources, before)
      if (next === undefined) break
      heads.push(next.heads[next.at++]!)
    }
    if (heads.length === 0 && sources.every(({ ended }) => ended)) {
      if (looked > 0) yield { heads, looked }
      return
    }
    yield { heads, looked }
  }
}

/** Reads a slice from each source that is used up. Returns how many heads were looked at. */
async function fill(sources: readonly Source[]): Promise<number> {
  const all = await Promise.all(sources.map(async (source) => {
    if (source.ended || source.at < source.heads.length) return 0
    const slice = await source.slices.next()
    if (slice.done) {
      source.ended = true
      return 0
    }
    source.heads = slice.value.heads
    source.at = 0
    return slice.value.looked
  }))
  return all.reduce((sum, each) => sum + each, 0)
}

function first(sources: readonly Source[], before: (a: SpanHead, b: SpanHead) => boolean):
  | Source
  | undefined {
  let best: Source | undefined
  for (const source of sources) {
    if (source.at >= source.heads.length) continue
    const isBest = best === undefined || before(source.heads[source.at]!, best.heads[best.at]!)
    if (isBest) best = source
  }
  return best
}

function compareHeads(a: SpanHead, b: SpanHead): number {
  return a.startUs - b.startUs || (a.id < b.id ? -1 : Number(a.id > b.id))
}
