/** What may still hold the event loop of a worker, and whether more may be put behind it. Pure. */

import { LRUCache } from '../../../../cluster/index.ts'

/**
 * Milliseconds for which what is given to a worker may hold its loop. More waits in the main
 * thread, where turns are taken. Less would let the loop rest between two short nodes.
 */
const aheadMaxMs = 25
/** Up to here a node counts as short: its run holds nobody up once it has begun. */
const shortMs = 5
/** Runs of different lanes that may be put behind each other on a loop that is held. */
const lanesMax = 32
/** Graphs whose times are remembered. */
const graphsMax = 1_000
/** Longest time that is believed, because user code can send any number. */
const believedMaxMs = 60_000

/** How long runs of a graph hold a loop at a time, by the graph. */
export class HoldTimes {
  readonly #ms = new LRUCache<string, number>({ max: graphsMax })

  /** Of a graph that was never executed: as much as is given at once, so that it is found out. */
  of(graph: string): number {
    return this.#ms.get(graph) ?? aheadMaxMs
  }

  /** A run held the loop for this time without a break. Less than is known is not believed yet. */
  rose(graph: string, heldMs: number): void {
    const known = this.#ms.get(graph)
    const ms = Math.min(heldMs, believedMaxMs)
    if (known === undefined) this.#ms.set(graph, ms)
    else if (ms > known) this.#ms.set(graph, (known + ms) / 2)
  }

  /** A run has ended; `longestMs` is the longest time for which it held the loop. */
  ended(graph: string, longestMs: number): void {
    const known = this.#ms.get(graph)
    if (known === undefined || longestMs < known) {
      this.#ms.set(graph, known === undefined ? longestMs : known * 0.75 + longestMs * 0.25)
    }
  }
}

/** A run that may hold a loop. */
export interface Holder {
  readonly ms: number
  /** Whose turns it takes: of one lane, only one run waits behind others. */
  readonly lane: string
}

/** What one worker has before it. */
export class LoopLoad {
  readonly #holders = new Map<number, Holder & { hasBegun: boolean }>()
  readonly #lanes = new Map<string, number>()
  #aheadMs = 0

  /** Milliseconds for which the loop may be held. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  get isEmpty(): boolean {
    return this.#holders.size === 0
  }

  /**
   * True if the loop can begin the run: nothing is before it, or little, or no run of its lane. So
   * a lane waits for one node of each of the others.
   */
  hasRoomFor({ ms, lane }: Holder): boolean {
    if (this.isEmpty || this.#aheadMs + ms <= aheadMaxMs) return true
    return !this.#lanes.has(lane) && this.#lanes.size < lanesMax
  }

  add(job: number, holder: Holder): void {
    this.#holders.set(job, { ...holder, hasBegun: false })
    this.#aheadMs += holder.ms
    this.#lanes.set(holder.lane, (this.#lanes.get(holder.lane) ?? 0) + 1)
  }

  /** The run has sent something. If its nodes are short, it is before nobody any more. */
  begun(job: number): void {
    const holder = this.#holders.get(job)
    if (holder && holder.ms <= shortMs) this.delete(job)
    else if (holder) holder.hasBegun = true
  }

  /**
   * The loop could be reached without delay: what has begun by then holds nothing. Other runs up to
   * the job `through` have begun now. They may have waited for what they read.
   */
  free(through: number): void {
    for (const [job, holder] of [...this.#holders]) {
      if (job > through) continue
      if (holder.hasBegun) this.delete(job)
      else holder.hasBegun = true
    }
  }

  delete(job: number): void {
    const holder = this.#holders.get(job)
    if (!holder) return
    this.#holders.delete(job)
    const left = this.#lanes.get(holder.lane)! - 1
    if (left === 0) this.#lanes.delete(holder.lane)
    else this.#lanes.set(holder.lane, left)
    this.#aheadMs = this.isEmpty ? 0 : this.#aheadMs - holder.ms
  }
}

/** True if a loop that was held for this time before it answered counts as free. */
export function isFree(heldMs: number): boolean {
  return heldMs <= shortMs * 2
}
