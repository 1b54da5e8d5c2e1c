/** What happens to deployments on this member: counted, so that others can wait for the next. */

import { LRUCache } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { goingAway } from '../../errors.ts'

/** What is waited for: an update of a deployment after one that is known. */
export interface UpdateRequest {
  /** The deployment's id. */
  readonly deployment: string
  /** The answer before; null for the first one, which is given at once. */
  readonly after: number | null
}

/** Shorter than the transport waits for an answer before it asks again. */
const waitMs = 8_000
/** Deployments that are counted. One that is forgotten has an update that nobody noticed yet. */
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

  /** Something was written or noted. */
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

  /** Whoever waits is sent away. */
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
