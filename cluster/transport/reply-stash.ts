/** Replies that are too large for a command stream: kept until the caller fetches them. */

import type { Env } from '../runtime/env.ts'

/** A caller that is notified of one fetches it at once. */
const keptMs = 5_000

/** All of them together: two of the largest. */
const keptBytesMax = 128 * 1024 * 1024

/** Keeps each reply for five seconds, or until it is taken. */
export class ReplyStash {
  readonly #env: Pick<Env, 'after'>
  /**
   * By the ids of their commands. No LRUCache: it would drop a reply that its caller is about to
   * fetch, and here the next one is refused.
   */
  readonly #kept = new Map<string, { readonly reply: Uint8Array; forget(): void }>()
  #bytes = 0

  constructor(env: Pick<Env, 'after'>) {
    this.#env = env
  }

  /** False if too much is kept already. */
  keep(id: string, reply: Uint8Array): boolean {
    if (this.#kept.has(id)) return true
    if (this.#bytes + reply.length > keptBytesMax) return false
    const forget = this.#env.after(keptMs, () => this.take(id))
    this.#kept.set(id, { reply, forget })
    this.#bytes += reply.length
    return true
  }

  /** Removes and returns it. */
  take(id: string): Uint8Array | undefined {
    const kept = this.#kept.get(id)
    if (kept === undefined) return undefined
    this.#kept.delete(id)
    this.#bytes -= kept.reply.length
    kept.forget()
    return kept.reply
  }
}
