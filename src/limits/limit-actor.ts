/**
 * The limit actor: the one counter of a limit for one key, user, address or deployment.
 *
 * A new counter learns what the previous one let through:
 * - Durable rows come from the store, where each admit was written before it was acknowledged. Its
 *   time is of another clock, and of when it was asked for. So it counts longer, by as much as
 *   clocks may differ and an admit may take.
 * - Other rows come from the front doors, which remember what they let through. What a lost front
 *   door let through is not known, so these limits are not guaranteed then. If one does not answer,
 *   no token is given until its leases have ended.
 */

import { pause } from '../../cluster/index.ts'
import type { Actor, ActorContext, ActorKind, ActorWire, Env, Turn } from '../../cluster/index.ts'
import { rawValues } from '../json/index.ts'
import { assert } from '../errors.ts'
import { LimitCounter, longestLeaseMs } from './limit-counter.ts'
import type { EndedLease, Grant, Limit, RecentAdmits, TokenQuestion } from './limit-counter.ts'
import type { LimitKey, LimitTable } from './limit-table.ts'
import { LiveCounters } from './live-counters.ts'

/** Name of the actor kind. */
export const limitKindName = 'limit'

/** Limits do not belong to tenants. The id names who is limited. */
const tenant = 'limits'

/** Clocks of two members must differ by less, or durable admits may expire too early. */
export const clocksApartMs = 5_000
/** A durable admit must be written within this time. A later one lets no request through. */
export const admitPatienceMs = 5_000
const countedLongerMs = clocksApartMs + admitPatienceMs

/** Counters that stay in memory while anything counts in them. Others may be released. */
const stayingMax = 20_000

/** A limit with its name. `durable` means that each admit is stored before it is acknowledged. */
export interface LimitRule extends Limit {
  readonly name: string
  readonly durable: boolean
}

/** Question of a front door to a counter, with its report. */
export interface LimitQuestion extends TokenQuestion {
  readonly ended: readonly EndedLease[]
  /** Requests that were let through while the counter could not be reached. */
  readonly spent: number
}

/** A new counter asks each front door. Grants of the previous counter are void from then on. */
export interface AdmitsQuestion extends LimitKey {
  readonly counter: string
}

/** Ports of the counters of one member, the same for all of them. */
export interface LimitActorParts {
  readonly env: Env
  /** The rule of a counter; undefined if there is no such limit. */
  ruleOf(key: LimitKey): LimitRule | undefined
  readonly table: LimitTable
  /** Register that counters enter themselves in; by default one of their own. */
  readonly live?: LiveCounters
  /** Requests that each front door let through in that time; undefined if it does not answer. */
  askDoors(question: AdmitsQuestion,
    recentMs: number): Promise<readonly (RecentAdmits | undefined)[]>
}

/** Commands and replies are plain data. */
export const limitWire: ActorWire = { values: rawValues }

/** The key of the actor that counts for a limit and a subject. */
export function limitActorKey({ row, who }: LimitKey) {
  return { kind: limitKindName, tenant, id: `${row} ${who}` }
}

/** The actor kind of limits. Its actors count together how many are in memory. */
export function limitKind(parts: LimitActorParts): ActorKind<LimitQuestion, Grant> {
  const live = parts.live ?? new LiveCounters()
  return {
    name: limitKindName,
    wire: limitWire,
    create: (context) => new LimitActor(context, parts, live),
  }
}

class LimitActor implements Actor<LimitQuestion, Grant> {
  readonly #parts: LimitActorParts
  readonly #key: LimitKey
  readonly #rule: LimitRule
  readonly #name: string
  readonly #counter: LimitCounter
  readonly #live: LiveCounters
  readonly #use = () => this.#counter.use(this.#nowMs)
  /** Admits that are being written. */
  readonly #underWay = new Set<Promise<unknown>>()

  constructor({ key }: ActorContext, parts: LimitActorParts, live: LiveCounters) {
    const [row, who] = key.id.split(' ') as [string, string]
    const limitKey = { row, who }
    const rule = parts.ruleOf(limitKey)
    assert(rule, `there is a limit named ${row}`)
    this.#parts = parts
    this.#key = limitKey
    this.#rule = rule
    this.#name = parts.env.uuid()
    this.#counter = new LimitCounter(rule, { name: this.#name, holds: rule.durable })
    this.#live = live
  }

  get occupied(): boolean {
    return this.#live.size <= stayingMax && this.#counter.used(this.#nowMs) > 0
  }

  async activate(): Promise<void> {
    if (this.#rule.durable) await this.#read()
    else await this.#askDoors()
    this.#live.add(this.#key, this.#use)
  }

  receive({ waiting, perSecond, ended, spent }: LimitQuestion): Turn<Grant> {
    const nowMs = this.#nowMs
    for (const lease of ended) this.#counter.end(nowMs, lease)
    if (spent > 0) this.#counter.count(nowMs, spent)
    const grant = this.#counter.take(nowMs, { waiting, perSecond })
    if (!this.#rule.durable || grant.admitted === 0) return { reply: grant }
    const reply = this.#durable(grant)
    this.#underWay.add(reply)
    const arrived = () => void this.#underWay.delete(reply)
    reply.then(arrived, arrived)
    return { reply }
  }

  /** Waits until admits are written or have failed, before the next counter reads them. */
  async passivate(): Promise<void> {
    await Promise.allSettled(this.#underWay)
    this.#live.remove(this.#key, this.#use)
  }

  get #nowMs(): number {
    return this.#parts.env.monotonicMs()
  }

  async #durable(grant: Grant): Promise<Grant> {
    const { intervalMs } = this.#rule
    try {
      await this.#parts.table.append(this.#key, { atMs: this.#parts.env.nowMs(),
        tokens: grant.admitted, keptMs: intervalMs + countedLongerMs })
      return grant
    } finally {
      // Done also if it is not known whether the admit was written.
      this.#counter.release(this.#nowMs, grant.admitted)
    }
  }

  async #read(): Promise<void> {
    const { env, table } = this.#parts
    const { intervalMs } = this.#rule
    const admits = await table.since(this.#key, env.nowMs() - intervalMs - countedLongerMs)
    const wallMs = env.nowMs()
    this.#learn(admits.map(({ atMs, tokens }) => [wallMs - atMs - countedLongerMs, tokens]))
  }

  async #askDoors(): Promise<void> {
    const question = { ...this.#key, counter: this.#name }
    const leaseMs = longestLeaseMs(this.#rule)
    // Tokens leased by the previous counter may have been used for this long after its end.
    const overMs = this.#nowMs + leaseMs
    const received = await this.#parts.askDoors(question, this.#rule.intervalMs + leaseMs)
    this.#learn(received.flatMap((admits) => admits ?? []))
    if (received.includes(undefined))
      await pause(this.#parts.env, Math.max(0, overMs - this.#nowMs))
  }

  #learn(admits: RecentAdmits): void {
    const nowMs = this.#nowMs
    for (const [agoMs, tokens] of admits.toSorted(([a], [b]) => b - a)) {
      this.#counter.count(nowMs - Math.max(0, agoMs), tokens)
    }
  }
}
