/** Scans several projects as one, in slices that leave turns to others. */

import type { Plan, ScannedHeads, SpanHead } from '../../../platform/index.ts'
import { scanOrder } from './project-scan.ts'
import type { ProjectScan, ScanWindow } from './project-scan.ts'

/** Heads of a slice. */
const sliceOf = 500

/** Resolves when all that waits in this thread had its turn. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

/** The heads of all scans in the order of the plan. */
export async function* mergedScans(order: Plan['order'],
  scans: readonly ProjectScan[]): AsyncIterable<ScannedHeads> {
  let looked = 0
  const sources: Source[] = []
  for (const scan of scans) {
    const source = new Source(scan.windows())
    const filled = await source.fill()
    looked += filled
    if (source.head !== undefined) sources.push(source)
    await turn()
  }
  let heads: SpanHead[] = []
  while (sources.length > 0) {
    const source = first(order, sources)
    heads.push(source.take())
    const isEmpty = source.head === undefined
    if (isEmpty || heads.length === sliceOf) {
      yield { heads, looked }
      heads = []
      looked = 0
      await turn()
    }
    if (!isEmpty) continue
    const filled = await source.fill()
    looked += filled
    if (source.head === undefined) sources.splice(sources.indexOf(source), 1)
  }
  if (looked + heads.length > 0) yield { heads, looked }
}

/** A scan and the heads of its window that are left. */
class Source {
  readonly #windows: Iterator<ScanWindow>
  #heads: readonly SpanHead[] = []
  #at = 0

  constructor(windows: Iterable<ScanWindow>) {
    this.#windows = windows[Symbol.iterator]()
  }

  /** The next head; undefined if the window is used up, and after a `fill` if the scan is. */
  get head(): SpanHead | undefined {
    return this.#heads[this.#at]
  }

  take(): SpanHead {
    return this.#heads[this.#at++]!
  }

  /** Reads windows until one has heads. Returns how many spans were looked at. */
  async fill(): Promise<number> {
    let looked = 0
    for (let next = this.#windows.next(); !next.done; next = this.#windows.next()) {
      looked += next.value.looked
      this.#heads = next.value.heads
      this.#at = 0
      if (this.#heads.length > 0) return looked
      await turn()
    }
    this.#heads = []
    this.#at = 0
    return looked
  }
}

function first(order: Plan['order'], sources: readonly Source[]): Source {
  return sources.reduce((best, source) =>
    scanOrder(order, source.head!, best.head!) < 0 ? source : best
  )
}
