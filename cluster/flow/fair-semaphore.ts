/**
 * A limit on how many may be under way at once, for each key and in all. The rest wait, and turns
 * are shared out by key: a key that wants many delays only itself.
 */

import { ClusterError } from '../errors.ts'

/** Bounds of the calls under way and of those that wait, in all and for each key. */
export interface FairSemaphoreLimits {
  readonly inAll: number
  readonly each: number
  /** Calls that may wait, in all. */
  readonly waiting: number
  /** Calls of one key that may wait; by default as many as in all. */
  readonly waitingEach?: number
  /** If too many wait, the last one of the longest line is refused, not the newcomer. */
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

/** A semaphore that shares its turns out by key. */
export class FairSemaphore {
  readonly #limits: FairSemaphoreLimits
  /** By key; the one that was let in last comes last. */
  readonly #lanes = new Map<string, Lane>()
  #busy = 0
  #waiting = 0

  constructor(limits: FairSemaphoreLimits) {
    this.#limits = limits
  }

  /** Resolves with the function that leaves. Throws `full`, or the signal's reason. */
  async enter(subject: string, signal?: AbortSignal): Promise<() => void> {
    signal?.throwIfAborted()
    const lane = this.#laneOf(subject)
    if (!this.#hasRoom(lane)) await this.#wait(subject, lane, signal)
    else this.#letIn(subject, lane)
    let left = false
    return () => {
      if (left) return
      left = true
      lane.busy--
      this.#busy--
      this.#forget(subject, lane)
      this.#letNextIn()
    }
  }

  #laneOf(subject: string): Lane {
    const lane = this.#lanes.get(subject) ?? { busy: 0, waiting: new Set() }
    this.#lanes.set(subject, lane)
    return lane
  }

  #hasRoom({ busy }: Lane): boolean {
    return this.#busy < this.#limits.inAll && busy < this.#limits.each
  }

  #letIn(subject: string, lane: Lane): void {
    lane.busy++
    this.#busy++
    this.#lanes.delete(subject)
    this.#lanes.set(subject, lane)
  }

  #wait(subject: string, lane: Lane, signal: AbortSignal | undefined): Promise<void> {
    const { waiting, waitingEach = waiting, longestYields = false } = this.#limits
    if (lane.waiting.size >= waitingEach || (this.#waiting >= waiting && !longestYields)) {
      this.#forget(subject, lane)
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
        this.#letIn(subject, lane)
        resolve()
      },
      giveUp: (reason) => {
        leave()
        this.#forget(subject, lane)
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

  #forget(subject: string, lane: Lane): void {
    if (lane.busy === 0 && lane.waiting.size === 0) this.#lanes.delete(subject)
  }

  #full(): ClusterError {
    return new ClusterError('full', this.#limits.full)
  }
}
