/** How many may be under way at once: to one host, and in all. The others wait their turn. */

import { HeddleError } from '../errors.ts'

export interface TurnstileLimits {
  readonly inAll: number
  readonly perHost: number
  /** Those who may wait. */
  readonly waiting: number
}

interface Lane {
  busy: number
  readonly waiting: Set<() => void>
}

export class Turnstile {
  readonly #limits: TurnstileLimits
  /** By host; the one that was let in last stands last. */
  readonly #lanes = new Map<string, Lane>()
  #busy = 0
  #waiting = 0

  constructor(limits: TurnstileLimits) {
    this.#limits = limits
  }

  /** Resolves with how to leave. Throws `full`, or the signal's reason. */
  async enter(host: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    const lane = this.#laneOf(host)
    if (!this.#hasRoom(lane)) await this.#wait(host, lane, signal)
    else this.#letIn(host, lane)
    let left = false
    return () => {
      if (left) return
      left = true
      lane.busy--
      this.#busy--
      this.#forget(host, lane)
      this.#letNextIn()
    }
  }

  #laneOf(host: string): Lane {
    const lane = this.#lanes.get(host) ?? { busy: 0, waiting: new Set() }
    this.#lanes.set(host, lane)
    return lane
  }

  #hasRoom({ busy }: Lane): boolean {
    return this.#busy < this.#limits.inAll && busy < this.#limits.perHost
  }

  #letIn(host: string, lane: Lane): void {
    lane.busy++
    this.#busy++
    this.#lanes.delete(host)
    this.#lanes.set(host, lane)
  }

  #wait(host: string, lane: Lane, signal: AbortSignal): Promise<void> {
    if (this.#waiting >= this.#limits.waiting) {
      this.#forget(host, lane)
      throw new HeddleError('full', 'As many calls as may wait to go out do already.')
    }
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const leave = () => {
      this.#waiting--
      lane.waiting.delete(enter)
      signal.removeEventListener('abort', giveUp)
    }
    const enter = () => {
      leave()
      this.#letIn(host, lane)
      resolve()
    }
    const giveUp = () => {
      leave()
      this.#forget(host, lane)
      reject(signal.reason as Error)
    }
    this.#waiting++
    lane.waiting.add(enter)
    signal.addEventListener('abort', giveUp)
    return promise
  }

  #letNextIn(): void {
    for (const lane of this.#lanes.values()) {
      const [enter] = lane.waiting
      if (enter !== undefined && this.#hasRoom(lane)) return enter()
    }
  }

  #forget(host: string, lane: Lane): void {
    if (lane.busy === 0 && lane.waiting.size === 0) this.#lanes.delete(host)
  }
}
