/** The ledgers of a front door: one for each limit and each key, user or address seen lately. */

import type { Env, Router } from '../../cluster/index.ts'
import { limitActorKey } from './limit-actor.ts'
import type { AdmitsQuestion, LimitQuestion } from './limit-actor.ts'
import type { Grant, RecentAdmits } from './limit-counter.ts'
import type { LimitRow } from './limit-rows.ts'
import type { LimitKey } from './limit-table.ts'
import { LimitLedger } from './token-lease.ts'
import type { LimitTally, Verdict } from './token-lease.ts'

export interface LimitBookParts {
  readonly env: Env
  readonly router: Pick<Router, 'ask'>
  /** How many front doors there are. */
  doors(): number
}

/** Beyond this, the least recently used ledger makes room; the tokens that it leased are lost. */
const ledgersMax = 50_000
const tidyMs = 50
/** How many ledgers are looked at each time. */
const tidiedAtOnce = 500

export class LimitBook {
  readonly #parts: LimitBookParts
  /** The least recently used first. */
  readonly #ledgers = new Map<string, LimitLedger>()
  /** The most recently used one. */
  #newest: LimitLedger | undefined
  /** Where tidying goes on. */
  #tidied = this.#ledgers.entries()
  readonly #tallies = new Map<string, LimitTally>()
  readonly #stopTimer: () => void

  constructor(parts: LimitBookParts) {
    this.#parts = parts
    this.#stopTimer = parts.env.every(tidyMs, () => this.#tidy())
  }

  /** How many are kept. */
  get size(): number { return this.#ledgers.size }

  /** Counts of requests by limit, for limits that were charged. */
  get tallies(): ReadonlyMap<string, Readonly<LimitTally>> { return this.#tallies }

  charge(row: LimitRow, who: string): Verdict | Promise<Verdict> {
    const key = { row: row.name, who }
    const text = textOf(key)
    const ledger = this.#ledgers.get(text) ?? this.#newLedger(row, key)
    if (ledger !== this.#newest) {
      this.#ledgers.delete(text)
      this.#ledgers.set(text, ledger)
      this.#newest = ledger
    }
    return ledger.charge()
  }

  /** Asks a counter that nobody uses. Throws if it cannot be reached. */
  async check({ name: row }: LimitRow): Promise<void> {
    const nothing: LimitQuestion = { waiting: 0, perSecond: 0, ended: [], spent: 0 }
    await this.#parts.router.ask(limitActorKey({ row, who: 'nobody' }), nothing)
  }

  /** What this front door let through recently, for a new counter. */
  told(question: AdmitsQuestion): RecentAdmits {
    return this.#ledgers.get(textOf(question))?.told(question.counter) ?? []
  }

  close(): void {
    this.#stopTimer()
  }

  #newLedger(row: LimitRow, key: LimitKey): LimitLedger {
    if (this.#ledgers.size >= ledgersMax) {
      const [oldest] = this.#ledgers.keys()
      this.#ledgers.delete(oldest!)
    }
    const { env, router, doors } = this.#parts
    const actor = limitActorKey(key)
    return new LimitLedger({ env, row, doors, tally: this.#tallyOf(row),
      ask: async (question) => await router.ask(actor, question) as Grant })
  }

  #tallyOf({ name }: LimitRow): LimitTally {
    const tally = this.#tallies.get(name) ??
      { admitted: 0, near: 0, refused: 0, alone: 0, failed: 0 }
    this.#tallies.set(name, tally)
    return tally
  }

  #tidy(): void {
    for (let looks = 0; looks < tidiedAtOnce; looks++) {
      const { value } = this.#tidied.next()
      if (value === undefined) {
        this.#tidied = this.#ledgers.entries()
        return
      }
      const [text, ledger] = value
      if (!ledger.tidy()) this.#ledgers.delete(text)
    }
  }
}

function textOf({ row, who }: LimitKey): string {
  return `${row} ${who}`
}
