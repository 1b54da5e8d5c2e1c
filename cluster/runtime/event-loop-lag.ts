/** Lag of this member itself: to a process that was paused, all others seem silent. */

import type { Env } from './env.ts'

/** Interval of the notes of lag, and the time for which they count, in milliseconds. */
export interface EventLoopLagOptions {
  readonly env: Env
  /** Interval at which `note` is meant to be called. */
  readonly everyMs: number
  /** If `note` comes later than this, the member stood still. */
  readonly stillMs: number
  /** Time for which a lag is taken into account. */
  readonly lastingMs: number
}

/** For each millisecond that its own timers are late, others may be silent this much longer. */
const slack = 4

/** Measures lag and standstill of this process by the monotonic clock. */
export class EventLoopLag {
  readonly #options: EventLoopLagOptions
  #notedMs = Number.POSITIVE_INFINITY
  #stoodStillMs = Number.NEGATIVE_INFINITY
  /** The greatest recent lag, and when it was noted. */
  #late = { ms: 0, atMs: Number.NEGATIVE_INFINITY }

  constructor(options: EventLoopLagOptions) {
    this.#options = options
  }

  /** From now on `note` is called. */
  begin(): void {
    this.#notedMs = this.#options.env.monotonicMs()
  }

  /** To be called by a timer, every `everyMs`. */
  note(): void {
    const { env, everyMs, stillMs } = this.#options
    const nowMs = env.monotonicMs()
    const ms = Math.min(Math.max(nowMs - this.#notedMs - everyMs, 0), stillMs)
    if (slack * ms >= this.slackMs) this.#late = { ms, atMs: nowMs }
    this.#lookForGap(nowMs)
    this.#notedMs = nowMs
  }

  /** Extra time for which others may be silent: on a busy machine, all of them are busy. */
  get slackMs(): number {
    const { env, lastingMs } = this.#options
    const { ms, atMs } = this.#late
    return env.monotonicMs() - atMs < lastingMs ? slack * ms : 0
  }

  /** True if it stood still recently, the present moment included. */
  stoodStill(): boolean {
    const { env, lastingMs } = this.#options
    const nowMs = env.monotonicMs()
    this.#lookForGap(nowMs)
    return nowMs - this.#stoodStillMs < lastingMs
  }

  #lookForGap(nowMs: number): void {
    if (nowMs - this.#notedMs > this.#options.stillMs) this.#stoodStillMs = nowMs
  }
}
