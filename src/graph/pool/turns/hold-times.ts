/** Time for which the runs of a graph hold the event loop of a worker, estimated by graph. Pure. */

import { LRUCache } from '../../../../cluster/index.ts'
import { aheadMaxMs } from './loop-load.ts'

/** Least time that a run counts for, so that a burst of the shortest runs is bounded as well. */
const leastMs = 0.5
/** Graphs whose times are remembered. */
const graphsMax = 1_000
/** Longest time that is believed, because user code can send any number. */
const believedMaxMs = 60_000

/**
 * Longest time for which a run of each graph held a loop. A single long time among short ones is
 * ignored, because a busy machine makes such times.
 */
export class HoldTimes {
  readonly #graphs = new LRUCache<string, { ms: number; lastMs: number }>({ max: graphsMax })

  /**
   * The time for a graph. Before its first run has ended, it is all that is given at once, so that
   * the graph is measured alone.
   */
  of(graph: string): number {
    return this.#graphs.get(graph)?.ms ?? aheadMaxMs
  }

  /** Notes that a run has held the loop. A time that occurred twice is believed. */
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
