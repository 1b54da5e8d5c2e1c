/** How late a member itself comes: to one that could not look, everybody seems silent. */

import type { Env } from './env.ts'

export interface LatenessOptions {
  readonly env: Env
  /** So often `note` is meant to be called. */
  readonly everyMs: number
  /** Later than this, the member stood still. */
  readonly stillMs: number
  /** For so long it matters. */
  readonly lastingMs: number
}

/** For each millisecond that its own timers come late, others may be silent for so many more. */
const grace = 4

/** By the monotonic clock. */
export class Lateness {
  readonly #options: LatenessOptions
  #notedMs = Number.POSITIVE_INFINITY
  #stoodStillMs = Number.NEGATIVE_INFINITY
  /** The latest that it was of late, and when. */
  #late = { ms: 0, atMs: Number.NEGATIVE_INFINITY }

  constructor(options: LatenessOptions) {
    this.#options = options
  }

  /** From now on `note` is called. */
  begin(): void {
    this.#notedMs = this.#options.env.monotonicMs()
  }

  note(): void {
    const { env, everyMs, stillMs } = this.#options
    const nowMs = env.monotonicMs()
    const ms = Math.min(Math.max(nowMs - this.#notedMs - everyMs, 0), stillMs)
    if (grace * ms >= this.graceMs) this.#late = { ms, atMs: nowMs }
    this.#lookForGap(nowMs)
    this.#notedMs = nowMs
  }

  /** On a busy machine everybody is busy: for so much longer others may be silent. */
  get graceMs(): number {
    const { env, lastingMs } = this.#options
    const { ms, atMs } = this.#late
    return env.monotonicMs() - atMs < lastingMs ? grace * ms : 0
  }

  /** Lately, or right now: it is looked for. */
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
