/**
 * Threads of stateless runs that have left the memory with their run. Each is loaded again when
 * clients have had their time to come for the result, and is deleted then.
 */

import { actorKeyText, limitConcurrency } from '../../../cluster/index.ts'
import type { ActivationTable, ActorKey, Env } from '../../../cluster/index.ts'

/** The actors of this member, and how they are reached. */
export interface LateExpiriesOptions {
  readonly env: Pick<Env, 'after' | 'monotonicMs'>
  readonly activations: Pick<ActivationTable, 'ask'>
  /** The epoch in which this member owns an actor; undefined for actors of others. */
  epochOf(key: ActorKey): number | undefined
  /** Threads that may have left the memory; 100 000 by default. */
  readonly limit?: number
}

interface Expiry {
  readonly key: ActorKey
  readonly ms: number
  readonly atMs: number
}

/** Threads that are loaded at once. */
const atOnce = 8

/**
 * The next owner of a shard wakes all of its hidden threads, and each expires there: what is lost
 * here delays the end of a thread, and no more.
 */
export class LateExpiries {
  readonly #options: LateExpiriesOptions
  readonly #inTurn = limitConcurrency(atOnce)
  /** By the text of the key. All wait for as long, so the oldest is due first. */
  readonly #expiries = new Map<string, Expiry>()
  #stopTimer: (() => void) | undefined
  #isClosed = false

  constructor(options: LateExpiriesOptions) {
    this.#options = options
  }

  /** Has the thread expire after that time, and not before; false if too many wait already. */
  note(tenant: string, threadId: string, ms: number): boolean {
    const { env, limit = 100_000 } = this.#options
    const key = { kind: 'thread', tenant, id: threadId }
    const text = actorKeyText(key)
    if (this.#isClosed || (this.#expiries.size >= limit && !this.#expiries.has(text))) return false
    this.#expiries.delete(text)
    this.#expiries.set(text, { key, ms, atMs: env.monotonicMs() + ms })
    this.#setTimer()
    return true
  }

  /** True if the thread waits here. */
  has(tenant: string, threadId: string): boolean {
    return this.#expiries.has(actorKeyText({ kind: 'thread', tenant, id: threadId }))
  }

  close(): void {
    this.#isClosed = true
    this.#stopTimer?.()
    this.#expiries.clear()
  }

  #setTimer(): void {
    const [first] = this.#expiries.values()
    if (this.#stopTimer !== undefined || first === undefined) return
    const { env } = this.#options
    this.#stopTimer = env.after(Math.max(0, first.atMs - env.monotonicMs()), () => {
      this.#stopTimer = undefined
      this.#expireDue()
      this.#setTimer()
    })
  }

  #expireDue(): void {
    const nowMs = this.#options.env.monotonicMs()
    for (const [text, expiry] of this.#expiries) {
      if (expiry.atMs > nowMs) return
      this.#expiries.delete(text)
      void this.#inTurn(() => this.#expire(expiry))
    }
  }

  async #expire({ key, ms }: Expiry): Promise<void> {
    const { activations, epochOf } = this.#options
    const epoch = epochOf(key)
    if (epoch === undefined || this.#isClosed) return
    try {
      await activations.ask(key, epoch, { type: 'expire' })
    } catch {
      this.note(key.tenant, key.id, ms)
    }
  }
}
