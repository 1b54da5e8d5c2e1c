/**
 * A limit on how many may be under way at once, for each key and in all. The rest wait, and turns
 * are shared out by key: a key that wants many delays only itself.
 */

import { HeddleError } from '../../src/errors.ts'

export interface TurnstileLimits {
  readonly inAll: number
  readonly each: number
  /** How many may wait. */
  readonly waiting: number
  /** How many of one key may wait; by default as many as in all. */
  readonly waitingEach?: number
  /** Who goes if too many wait: the newcomer or, with this, the last one of the longest line. */
  readonly longestYields?: boolean
  /** The sentence for those that are turned away. */
  readonly full: string
}

interface Waiter {
  enter(): void
  giveUp(reason: unknown): void
}

interface Lane {
  busy: number
  readonly waiting: Set<Waiter>
}

export class Turnstile {
  readonly #limits: TurnstileLimits
  /** By key; the one that was let in last comes last. */
  readonly #lanes = new Map<string, Lane>()
  #busy = 0
  #waiting = 0

  constructor(limits: TurnstileLimits) {
    this.#limits = limits
  }

  /** Resolves with the function that leaves. Throws `full`, or the signal's reason. */
  async enter(who: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const lane = this.#laneOf(who)
    if (!this.#hasRoom(lane)) await this.#wait(who, lane, signal)
    else this.#letIn(who, lane)
    let left = false
    return () => {
      if (left) return
      left = true
      lane.busy--
      this.#busy--
      this.#forget(who, lane)
      this.#letNextIn()
    }
  }

  #laneOf(who: string): Lane {
    const lane = this.#lanes.get(who) ?? { busy: 0, waiting: new Set() }
    this.#lanes.set(who, lane)
    return lane
  }

  #hasRoom({ busy }: Lane): boolean {
    return this.#busy < this.#limits.inAll && busy < this.#limits.each
  }

  #letIn(who: string, lane: Lane): void {
    lane.busy++
    this.#busy++
    this.#lanes.delete(who)
    this.#lanes.set(who, lane)
  }

  #wait(who: string, lane: Lane, signal: AbortSignal | undefined): Promise<void> {
    const { waiting, waitingEach = waiting, longestYields = false } = this.#limits
    if (lane.waiting.size >= waitingEach || (this.#waiting >= waiting && !longestYields)) {
      this.#forget(who, lane)
      throw this.#full()
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const abort = () => waiter.giveUp(signal!.reason)
    const leave = () => {
      this.#waiting--
      lane.waiting.delete(waiter)
      signal?.removeEventListener('abort', abort)
    }
    const waiter: Waiter = {
      enter: () => {
        leave()
        this.#letIn(who, lane)
        resolve()
      },
      giveUp: (reason) => {
        leave()
        this.#forget(who, lane)
        reject(reason)
      },
    }
    this.#waiting++
    lane.waiting.add(waiter)
    signal?.addEventListener('abort', abort)
    if (this.#waiting > waiting) this.#turnOneAway()
    return promise
  }

  #turnOneAway(): void {
    const { waiting } = [...this.#lanes.values()]
      .reduce((one, other) => other.waiting.size >= one.waiting.size ? other : one)
    const last = [...waiting].at(-1)!
    last.giveUp(this.#full())
  }

  #letNextIn(): void {
    for (const lane of this.#lanes.values()) {
      const [next] = lane.waiting
      if (next !== undefined && this.#hasRoom(lane)) return next.enter()
    }
  }

  #forget(who: string, lane: Lane): void {
    if (lane.busy === 0 && lane.waiting.size === 0) this.#lanes.delete(who)
  }

  #full(): HeddleError {
    return new HeddleError('full', this.#limits.full)
  }
}
