/** Threads whose actor failed only because the store was away: their runs lose no attempt. */

import { LRUCache } from '../../../cluster/index.ts'
import type { ActorContext } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'

/** Bounded, because the entry of a thread that is loaded elsewhere is never taken. */
const rememberedMax = 10_000

/** The threads of one member whose actor failed while the store was away. */
export class Interruptions {
  readonly #keys = new LRUCache<string, true>({ max: rememberedMax })

  /** To be called with the reason why an actor failed. */
  note(context: ActorContext, reason: unknown): void {
    if (HeddleError.from(reason).code !== 'unavailable') return
    this.#keys.set(textOf(context), true)
  }

  /** True if the activation before this one, in the same epoch, failed so. Removes the entry. */
  take(context: ActorContext): boolean {
    return this.#keys.delete(textOf(context))
  }
}

function textOf({ key: { tenant, id }, epoch }: ActorContext): string {
  return `${tenant}\n${id}\n${epoch}`
}
