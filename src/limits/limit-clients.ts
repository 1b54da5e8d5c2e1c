/** The leases of a front door: one for each limit and each key, user or address seen lately. */

import type { Env, Router } from '../../cluster/index.ts'
import { limitActorKey } from './limit-actor.ts'
import type { AdmitsQuestion, LimitQuestion } from './limit-actor.ts'
import type { Grant, RecentAdmits } from './limit-counter.ts'
import type { ChargedLimit } from './limit-rows.ts'
import type { LimitKey } from './limit-table.ts'
import { limitKeyText } from './live-counters.ts'
import { TokenLease } from './token-lease.ts'
import type { LimitTally, Verdict } from './token-lease.ts'

/** Way to the counters, and the number of front doors that share a limit on outage. */
export interface LimitClientsParts {
  readonly env: Env
  readonly router: Pick<Router, 'ask'>
  /** Number of front doors. */
  doors(): number
}

/**
 * Leases that are kept. Beyond this, the least recently used one is dropped, and its tokens are
 * lost.
 */
const leasesMax = 50_000
const tidyMs = 50
/** Leases that are looked at each time. */
const tidiedAtOnce = 500

/** Charges requests at one front door, which owns it. */
export class LimitClients {
  readonly #parts: LimitClientsParts
  /** The least recently used first. No LRUCache: one cannot be walked while it changes. */
  readonly #leases = new Map<string, TokenLease>()
  /** The most recently used lease. */
  #newest: TokenLease | undefined
  /** Lease at which tidying continues. */
  #tidied = this.#leases.entries()
  readonly #tallies = new Map<string, LimitTally>()
  readonly #stopTimer: () => void

  constructor(parts: LimitClientsParts) {
    this.#parts = parts
    this.#stopTimer = parts.env.every(tidyMs, () => this.#tidy())
  }

  /** Number of leases that are kept. */
  get size(): number {
    return this.#leases.size
  }

  /** Counts of requests by limit, for limits that were charged. */
  get tallies(): ReadonlyMap<string, Readonly<LimitTally>> {
    return this.#tallies
  }

  /** Charges a request to a limit. The verdict comes at once if tokens are leased. */
  charge(limit: ChargedLimit, subject: string): Verdict | Promise<Verdict> {
    const key = { row: limit.name, who: subject }
    const text = limitKeyText(key)
    const lease = this.#leases.get(text) ?? this.#newLease(limit, key)
    if (lease !== this.#newest) {
      this.#leases.delete(text)
      this.#leases.set(text, lease)
      this.#newest = lease
    }
    return lease.charge()
  }

  /** Asks a counter that no request uses. Throws if it cannot be reached. */
  async check({ name: row }: ChargedLimit): Promise<void> {
    const nothing: LimitQuestion = { waiting: 0, perSecond: 0, ended: [], spent: 0 }
    await this.#parts.router.ask(limitActorKey({ row, who: 'nobody' }), nothing)
  }

  /** Requests that this front door let through recently, for a new counter. */
  recent(question: AdmitsQuestion): RecentAdmits {
    return this.#leases.get(limitKeyText(question))?.recent(question.counter) ?? []
  }

  /** Requests that were let through here lately, and the tokens that are held. Charges nothing. */
  lately(key: LimitKey): { readonly letThrough: number; readonly held: number } {
    return this.#leases.get(limitKeyText(key))?.lately() ?? { letThrough: 0, held: 0 }
  }

  close(): void {
    this.#stopTimer()
  }

  #newLease(limit: ChargedLimit, key: LimitKey): TokenLease {
    if (this.#leases.size >= leasesMax) {
      const [oldest] = this.#leases.keys()
      this.#leases.delete(oldest!)
    }
    const { env, router, doors } = this.#parts
    const actor = limitActorKey(key)
    return new TokenLease({ env, limit, doors, tally: this.#tallyOf(limit),
      ask: async (question) => await router.ask(actor, question) as Grant })
  }

  #tallyOf({ name }: ChargedLimit): LimitTally {
    const tally = this.#tallies.get(name) ??
      { admitted: 0, near: 0, refused: 0, alone: 0, failed: 0 }
    this.#tallies.set(name, tally)
    return tally
  }

  #tidy(): void {
    for (let looks = 0; looks < tidiedAtOnce; looks++) {
      const { value } = this.#tidied.next()
      if (value === undefined) {
        this.#tidied = this.#leases.entries()
        return
      }
      const [text, lease] = value
      if (!lease.tidy()) this.#leases.delete(text)
    }
  }
}
