/**
 * When the next validation of the own session begins: a policy, which no rule depends on.
 *
 * A validation is one read of the store, whoever shares it. If many writers are on their way when
 * the first caller comes, the next validation waits for them, for a few times as long as the last
 * one took: the slower the store, the more share a validation, and the fewer reads it answers
 * beside its writes. A writer that was waited for in vain is not waited for again.
 */

import { backoffMs } from '../flow/backoff.ts'
import type { Env } from '../runtime/env.ts'

/** What a batcher begins, and how many writers it waits for. */
export interface CheckBatcherOptions {
  readonly env: Env
  /** Writers on their way are waited for if there are at least this many; 16 by default. */
  readonly awaitedLeast?: number
  /** Begins a validation; `began` is called then. */
  begin(): void
}

/** How long a closed check waits before it asks again. */
const rests = { firstMs: 250, longestMs: 250 }
/**
 * A validation waits for writers this many times as long as the last one took, which is about how
 * long their writes take when many write. Measured: 32 writers get 7 % more done than with once as
 * long, with a third of the validations; writers that come at random wait no longer.
 */
const awaitedTimes = 8
/**
 * Few writers are not waited for: two may be steps of one actor, and a reader of the first would be
 * held up by the second. Measured: the first event of a lone actor comes after 17 ms instead of 30.
 */
const awaitedLeastDefault = 16
/** It never waits longer: a store this slow is in trouble. */
const awaitedMsMax = 50

/**
 * idle       No validation is asked for.
 * gathering  The next validation waits for writers that are on their way.
 * resting    The store could not be reached: it is asked again after a while.
 * due        A validation is under way, or begins in this tick.
 */
type BatcherPhase = 'idle' | 'gathering' | 'resting' | 'due'

/** Begins validations, one at a time. */
export class CheckBatcher {
  readonly #options: CheckBatcherOptions
  /** Writers on their way. Each is named by an object of its own. */
  readonly #writers = new Set<object>()
  /** The writers that the next validation waits for. */
  #awaited = new Set<object>()
  #phase: BatcherPhase = 'idle'
  /** How long the last validation took. */
  #tookMs = 0
  #stopTimer = () => {}

  constructor(options: CheckBatcherOptions) {
    this.#options = options
  }

  /** The writer is on its way: it will ask when what it writes is written. */
  announce(writer: object): void {
    this.#writers.add(writer)
  }

  /** The writer came, or does not come any more. */
  arrived(writer: object): void {
    this.#writers.delete(writer)
    this.#awaited.delete(writer)
  }

  /** A first caller waits for the next validation, which waits for the writers of this moment. */
  gather(): void {
    const { awaitedLeast = awaitedLeastDefault } = this.#options
    this.#awaited = new Set(this.#writers.size >= awaitedLeast ? this.#writers : [])
  }

  /** A caller waits for a validation. `isClosed`: the last one could not be made. */
  request(isClosed: boolean): void {
    if (this.#phase === 'due' || this.#phase === 'resting') return
    if (isClosed)
      this.#wait('resting', backoffMs(rests, 1, this.#options.env.random()), () => this.#begin())
    else if (this.#awaited.size === 0) {
      this.#become('due')
      // Not at once: whatever else completes in this tick shares it.
      queueMicrotask(() => this.#options.begin())
    } else if (this.#phase === 'idle') {
      this.#wait('gathering', Math.min(awaitedTimes * this.#tookMs, awaitedMsMax), () => {
        for (const writer of this.#awaited) this.arrived(writer)
        this.request(isClosed)
      })
    }
  }

  /** A validation began. The result is to be called when it has ended. */
  began(): () => void {
    const { env } = this.#options
    const beganMs = env.monotonicMs()
    return () => {
      this.#tookMs = env.monotonicMs() - beganMs
      this.#become('idle')
    }
  }

  /** Nothing is begun any more, but for a validation that is due in this tick. */
  stop(): void {
    this.#become('due')
  }

  #begin(): void {
    this.#become('due')
    this.#options.begin()
  }

  #wait(phase: BatcherPhase, ms: number, then: () => void): void {
    this.#become(phase)
    this.#stopTimer = this.#options.env.after(ms, then)
  }

  #become(phase: BatcherPhase): void {
    this.#stopTimer()
    this.#stopTimer = () => {}
    this.#phase = phase
  }
}
