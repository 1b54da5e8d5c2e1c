/**
 * Estimates for how long a worker's event loop is taken, and whether it has room for more. Pure.
 */

/**
 * Milliseconds for which what is given to a worker may hold its loop. More waits in the main
 * thread, where turns are taken. Less would let the loop rest between two short nodes.
 */
export const aheadMaxMs = 25
/** Milliseconds up to which a node counts as short: its run delays no other once it has begun. */
const shortMs = 5
/** Runs of different lanes that may be put behind each other on a loop that is held. */
const lanesMax = 32

/** A run that may hold a loop. */
export interface Holder {
  readonly ms: number
  /** Whose turns it takes: of one lane, only one run waits behind others. */
  readonly lane: string
}

/** The runs that one worker has to begin or to continue, with the time that each may take. */
export class LoopLoad {
  readonly #nowMs: () => number
  /** Runs that have sent nothing yet, and when they were given. The oldest is first. */
  readonly #waiting = new Map<number, Holder & { readonly givenMs: number }>()
  /** Runs that have begun, and whose nodes are long. */
  readonly #begun = new Map<number, Holder>()
  readonly #lanes = new Map<string, number>()
  #aheadMs = 0

  constructor(nowMs: () => number) {
    this.#nowMs = nowMs
  }

  /** Milliseconds for which the loop may be held. */
  get aheadMs(): number {
    return this.#aheadMs
  }

  get isEmpty(): boolean {
    return this.#waiting.size + this.#begun.size === 0
  }

  /** True if a run that has begun may only be waiting by now, which its worker would not report. */
  get mayRest(): boolean {
    return this.#begun.size > 0
  }

  /**
   * True if the loop can begin the run: nothing is before it, or little, or no run of its lane. So
   * a lane waits for one node of each of the others.
   */
  hasRoomFor({ ms, lane }: Holder): boolean {
    if (this.isEmpty) return true
    if (this.#aheadMs + ms <= aheadMaxMs && !this.#isLate()) return true
    return !this.#lanes.has(lane) && this.#lanes.size < lanesMax
  }

  add(job: number, holder: Holder): void {
    this.#waiting.set(job, { ...holder, givenMs: this.#nowMs() })
    this.#aheadMs += holder.ms
    this.#lanes.set(holder.lane, (this.#lanes.get(holder.lane) ?? 0) + 1)
  }

  /**
   * Notes that the run has sent something after it had held the loop. A run of short nodes delays
   * no other from now on.
   */
  begun(job: number, heldMs: number): void {
    const holder = this.#waiting.get(job) ?? this.#begun.get(job)
    if (holder && Math.max(holder.ms, heldMs) <= shortMs) this.delete(job)
    else this.#begins(job)
  }

  /**
   * The loop could be reached without delay: what has begun by then holds nothing. Other runs up to
   * the job `through` have begun now. They may have waited for what they read.
   */
  free(through: number): void {
    for (const job of [...this.#begun.keys()]) if (job <= through) this.delete(job)
    for (const job of [...this.#waiting.keys()]) if (job <= through) this.#begins(job)
  }

  delete(job: number): void {
    const holder = this.#waiting.get(job) ?? this.#begun.get(job)
    if (!holder) return
    this.#waiting.delete(job)
    this.#begun.delete(job)
    const left = this.#lanes.get(holder.lane)! - 1
    if (left === 0) this.#lanes.delete(holder.lane)
    else this.#lanes.set(holder.lane, left)
    this.#aheadMs = this.isEmpty ? 0 : this.#aheadMs - holder.ms
  }

  #begins(job: number): void {
    const holder = this.#waiting.get(job)
    if (holder) this.#begun.set(job, { ms: holder.ms, lane: holder.lane })
    this.#waiting.delete(job)
  }

  /** True if a run should have begun by now, so that something else holds the loop. */
  #isLate(): boolean {
    for (const { givenMs } of this.#waiting.values()) return this.#nowMs() - givenMs > aheadMaxMs
    return false
  }
}

/** True if a loop that was held for this time before it answered counts as free. */
export function isFree(heldMs: number): boolean {
  return heldMs <= shortMs * 2
}
