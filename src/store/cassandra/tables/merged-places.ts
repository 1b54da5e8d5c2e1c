/** Merges the places of runs in several tables into one order, the newest first. */

import type { RunPlace } from '../../../search/index.ts'
import type { PlacedRun } from './run-rows.ts'

type Pages = AsyncGenerator<readonly PlacedRun[], void, void>

/** A source, and the places of it that were not taken yet. */
interface Source {
  readonly pages: Pages
  page: readonly PlacedRun[]
  at: number
}

/** Yields pages of places. One that several sources have comes once, as the first has it. */
export async function* mergePlaces(all: readonly Pages[]): Pages {
  if (all.length === 1) return yield* all[0]!
  let sources: Source[] = all.map((pages) => ({ pages, page: [], at: 0 }))
  for (;;) {
    sources = await filled(sources)
    if (sources.length === 0) return
    yield taken(sources)
  }
}

/** The sources that are not at their ends, each with the next page if it has given all of one. */
async function filled(sources: readonly Source[]): Promise<Source[]> {
  const all = await Promise.all(sources.map(async ({ pages, page, at }) => {
    if (at < page.length) return { pages, page, at }
    for await (const next of keptOpen(pages)) {
      if (next.length > 0) return { pages, page: next, at: 0 }
    }
    return undefined
  }))
  return all.filter((source) => source !== undefined)
}

/** Leaving a loop over a generator would end the generator. */
function keptOpen(pages: Pages): AsyncIterable<readonly PlacedRun[]> {
  return { [Symbol.asyncIterator]: () => ({ next: () => pages.next() }) }
}

/** The places up to the end of a page. What comes after it may be in the page behind. */
function taken(sources: readonly Source[]): PlacedRun[] {
  const places: PlacedRun[] = []
  while (sources.every(({ page, at }) => at < page.length)) {
    const next = sources.map(({ page, at }) => page[at]!)
      .reduce((first, each) => (isNewer(each, first) ? each : first))
    for (const source of sources) {
      if (!isNewer(next, source.page[source.at]!)) source.at++
    }
    places.push(next)
  }
  return places
}

/** True if run `a` comes before run `b`. */
export function isNewer(a: RunPlace, b: RunPlace): boolean {
  return a.createdAtMs > b.createdAtMs || (a.createdAtMs === b.createdAtMs && a.runId > b.runId)
}
