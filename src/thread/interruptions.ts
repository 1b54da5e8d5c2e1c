/** Threads whose actor failed only because the store was out of reach: nobody died of it. */

import type { ActorContext } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'

/** Those that are taken up again elsewhere are never asked for. */
const rememberedMax = 10_000

export class Interruptions {
  readonly #keys = new Set<string>()

  /** To be called with what an actor failed for. */
  note(context: ActorContext, reason: unknown): void {
    if (HeddleError.from(reason).code !== 'unavailable') return
    this.#keys.add(textOf(context))
    if (this.#keys.size > rememberedMax) this.#keys.delete(this.#keys.values().next().value!)
  }

  /** Whether the life before this one, under the same ownership, ended so. */
  take(context: ActorContext): boolean {
    return this.#keys.delete(textOf(context))
  }
}

function textOf({ key: { tenant, id }, epoch }: ActorContext): string {
  return `${tenant}\n${id}\n${epoch}`
}
