/** Counts lines and events of deployments on this member, so that others can wait for the next. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { goingAway } from '../../errors.ts'

/** Request for an update of a deployment that is newer than a known one. */
export interface UpdateRequest {
  /** The deployment's id. */
  readonly deployment: string
  /** Number of the last answer; null for the first request, which is answered at once. */
  readonly after: number | null
}

/** Milliseconds of a wait, which is shorter than the transport's timeout. */
const waitMs = 8_000
/** Deployments that are counted. A forgotten one has an unnoticed update at the next request. */
const countedMax = 10_000

/** Counts lines that were written and events that were noted here. */
export class DeploymentUpdates {
  readonly #env: Pick<Env, 'after'>
  readonly #newest = new LRUCache<string, number>({ max: countedMax })
  readonly #waiting = new Map<string, Set<() => void>>()
  #count = 0
  #isClosed = false

  constructor(env: Pick<Env, 'after'>) {
    this.#env = env
  }

  /** Notes that something was written or noted. */
  add(deployment: string): void {
    this.#newest.set(deployment, ++this.#count)
    for (const wake of this.#waiting.get(deployment) ?? []) wake()
  }

  /**
   * The number of the newest update, as soon as that is another one than is known, and after eight
   * seconds in any case. Throws `unavailable` when this member goes away.
   */
  async next({ deployment, after }: UpdateRequest, cancelled?: AbortSignal): Promise<number> {
    const newest = () => this.#newest.get(deployment) ?? 0
    if (after === newest() && !this.#isClosed) await this.#wait(deployment, cancelled)
    if (this.#isClosed) throw goingAway()
    return newest()
  }

  /** Rejects every waiting caller with `unavailable`. */
  close(): void {
    this.#isClosed = true
    for (const wakes of this.#waiting.values()) for (const wake of wakes) wake()
  }

  async #wait(deployment: string, cancelled: AbortSignal | undefined): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const waiting = this.#waiting.get(deployment) ?? new Set()
    this.#waiting.set(deployment, waiting.add(resolve))
    const stopTimer = this.#env.after(waitMs, resolve)
    const leave = () => resolve()
    cancelled?.addEventListener('abort', leave)
    if (!cancelled?.aborted) await promise
    cancelled?.removeEventListener('abort', leave)
    stopTimer()
    waiting.delete(resolve)
    if (waiting.size === 0) this.#waiting.delete(deployment)
  }
}
