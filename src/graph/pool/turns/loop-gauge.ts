/** Measures how long the code of jobs holds the event loop. Lives in the worker. */

/** Ports of the gauge: two clocks, and the end of a turn of the loop. */
export interface LoopPorts {
  readonly nowMs: () => number
  /** Milliseconds for which the loop has waited for events, in all. */
  readonly idleMs: () => number
  /** Calls back when the turn of the event loop ends. */
  readonly atTurnEnd: (ended: () => void) => void
}

/**
 * A turn is measured from the first code of a job in it to its end, with what code of jobs did
 * since the turn before: that is not seen when it goes on after a wait.
 */
export class LoopGauge {
  readonly #ports: LoopPorts
  /** Milliseconds for which watched jobs held the loop, and that were not taken yet. */
  readonly #held = new Map<number, number>()
  /** The job whose code runs in this turn; undefined if none did. */
  #job: number | undefined
  #turnBeganMs = 0
  #sinceMs = 0
  #endedMs: number
  #idleAtEndMs: number
  #longestMs = 0

  constructor(ports: LoopPorts) {
    this.#ports = ports
    this.#endedMs = ports.nowMs()
    this.#idleAtEndMs = ports.idleMs()
  }

  /** From now on the time of this job is counted. */
  watch(job: number): void {
    this.#held.set(job, 0)
  }

  /** Counts the time of this job no more. */
  forget(job: number): void {
    this.#held.delete(job)
  }

  /** Code of the job runs from now on. */
  enter(job: number): void {
    if (job === this.#job) return
    const nowMs = this.#ports.nowMs()
    if (this.#job === undefined) this.#begin(nowMs)
    else this.#count(nowMs)
    this.#job = job
  }

  /** Milliseconds for which a watched job held the loop since this was asked last. */
  take(job: number): number {
    if (job === this.#job) this.#count(this.#ports.nowMs())
    const ms = this.#held.get(job) ?? 0
    if (ms > 0) this.#held.set(job, 0)
    return Math.round(ms)
  }

  /** Milliseconds of the longest turn since this was asked last. */
  takeLongest(): number {
    const turnMs = this.#job === undefined ? 0 : this.#ports.nowMs() - this.#turnBeganMs
    const ms = Math.max(this.#longestMs, turnMs)
    this.#longestMs = 0
    return Math.round(ms)
  }

  #begin(nowMs: number): void {
    const { idleMs, atTurnEnd } = this.#ports
    const unseenMs = nowMs - this.#endedMs - (idleMs() - this.#idleAtEndMs)
    this.#turnBeganMs = this.#sinceMs = nowMs - Math.max(0, unseenMs)
    atTurnEnd(() => this.#end())
  }

  #end(): void {
    const nowMs = this.#ports.nowMs()
    this.#count(nowMs)
    this.#longestMs = Math.max(this.#longestMs, nowMs - this.#turnBeganMs)
    this.#job = undefined
    this.#endedMs = nowMs
    this.#idleAtEndMs = this.#ports.idleMs()
  }

  #count(nowMs: number): void {
    const heldMs = this.#held.get(this.#job!)
    if (heldMs !== undefined) this.#held.set(this.#job!, heldMs + nowMs - this.#sinceMs)
    this.#sinceMs = nowMs
  }
}
