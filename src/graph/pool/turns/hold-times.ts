/** How long runs hold the event loop of a worker, as their graphs show it. Pure. */

import { LRUCache } from '../../../../cluster/index.ts'
import { aheadMaxMs } from './loop-load.ts'

/** What a run takes at least, so that a burst of the shortest is bounded as well. */
const leastMs = 0.5
/** Graphs whose times are remembered. */
const graphsMax = 1_000
/** Longest time that is believed, because user code can send any number. */
const believedMaxMs = 60_000

/**
 * How long runs of a graph hold a loop at a time, by the graph: the longest time of a run. One long
 * time among short ones is not believed: a machine that is busy makes it.
 */
export class HoldTimes {
  readonly #graphs = new LRUCache<string, { ms: number; lastMs: number }>({ max: graphsMax })

  /** Of a graph of which no run has ended: as much as is given at once, so that it is found out. */
  of(graph: string): number {
    return this.#graphs.get(graph)?.ms ?? aheadMaxMs
  }

  /** A run has held the loop. What it did twice is believed. */
  held(graph: string, { secondMs }: Longest): void {
    const known = this.#graphs.get(graph)
    if (known) known.ms = raised(known.ms, secondMs)
  }

  /** A run has ended. */
  ended(graph: string, { longestMs }: Longest): void {
    const known = this.#graphs.get(graph)
    if (!known) {
      this.#graphs.set(graph, { ms: Math.max(leastMs, believed(longestMs)), lastMs: longestMs })
      return
    }
    known.ms = longestMs < known.ms
      ? Math.max(leastMs, known.ms * 0.75 + longestMs * 0.25)
      : raised(known.ms, Math.min(longestMs, known.lastMs))
    known.lastMs = longestMs
  }
}

function raised(knownMs: number, ms: number): number {
  return ms > knownMs ? (knownMs + believed(ms)) / 2 : knownMs
}

function believed(ms: number): number {
  return Math.min(ms, believedMaxMs)
}

/** The two longest times for which a run held the loop. */
export class Longest {
  longestMs = 0
  secondMs = 0

  add(ms: number): void {
    this.secondMs = Math.max(this.secondMs, Math.min(ms, this.longestMs))
    this.longestMs = Math.max(this.longestMs, ms)
  }
}
