/**
 * The limit actor: the one counter of a limit for one who is limited.
 *
 * A counter that begins knows what the one before it let through:
 *   durable rows  from the store, where each admit was before it was acknowledged. Its time is that
 *                 of another clock, and of when it was asked for: so it counts longer, by as much
 *                 as clocks may be apart and an admit may take.
 *   other rows    from the front doors that can be asked, which remember what they let through. The
 *                 share of one that is gone is not known, so nothing is promised for them. Where
 *                 one does not answer, no token is given until its leases are over.
 */

import { pause, plainValues } from '../../cluster/index.ts'
import type { Actor, ActorContext, ActorKind, ActorWire, Env, Turn } from '../../cluster/index.ts'
import { assert, HeddleError } from '../errors.ts'
import { LimitCounter, longestLeaseMs } from './limit-counter.ts'
import type { EndedLease, Grant, Limit, RecentAdmits, TokenQuestion } from './limit-counter.ts'
import type { LimitKey, LimitTable } from './limit-table.ts'

export const limitKindName = 'limit'

/** All tenants share a row; who is limited is in the id. */
const tenant = 'limits'

/** Clocks of two members differ by less: else what is durable may be counted as over too early. */
export const clocksApartMs = 5_000
/** Nobody waits longer for an admit that is to be durable: a later one lets nobody through. */
export const admitPatienceMs = 5_000
const countedLongerMs = clocksApartMs + admitPatienceMs

/** Counters that stay while something counts in them; more of them may be let go any time. */
const stayingMax = 20_000

export interface LimitRule extends Limit {
  readonly name: string
  readonly durable: boolean
}

export interface LimitQuestion extends TokenQuestion {
  readonly ended: readonly EndedLease[]
  /** What was let through meanwhile while nobody could be asked. */
  readonly spent: number
}

/** A counter that begins asks it of each front door; what the one before it says then is void. */
export interface AdmitsQuestion extends LimitKey {
  readonly counter: string
}

export interface LimitActorParts {
  readonly env: Env
  /** By name. */
  readonly rules: ReadonlyMap<string, LimitRule>
  readonly table: LimitTable
  /** What each front door let through within that time; undefined for one that does not say. */
  askDoors(question: AdmitsQuestion, recentMs: number):
    Promise<readonly (RecentAdmits | undefined)[]>
}

/** Plain data, there and back. */
export const limitWire: ActorWire = { values: plainValues }

export function limitActorKey({ row, who }: LimitKey) {
  return { kind: limitKindName, tenant, id: `${row} ${who}` }
}

export function limitKind(parts: LimitActorParts): ActorKind {
  const alive = { counters: 0 }
  return {
    name: limitKindName,
    wire: limitWire,
    create: (context) => new LimitActor(context, parts, alive),
  }
}

class LimitActor implements Actor {
  readonly #parts: LimitActorParts
  readonly #key: LimitKey
  readonly #rule: LimitRule
  readonly #name: string
  readonly #counter: LimitCounter
  readonly #alive: { counters: number }
  /** Admits on their way into the store. */
  readonly #underWay = new Set<Promise<unknown>>()

  constructor({ key }: ActorContext, parts: LimitActorParts, alive: { counters: number }) {
    const [row, who] = key.id.split(' ') as [string, string]
    const rule = parts.rules.get(row)
    assert(rule, `there is a limit named ${row}`)
    this.#parts = parts
    this.#key = { row, who }
    this.#rule = rule
    this.#name = parts.env.uuid()
    this.#counter = new LimitCounter(rule, { name: this.#name, holds: rule.durable })
    this.#alive = alive
  }

  get occupied(): boolean {
    return this.#alive.counters <= stayingMax && this.#counter.used(this.#nowMs) > 0
  }

  async activate(): Promise<void> {
    if (this.#rule.durable) await this.#read()
    else await this.#askDoors()
    this.#alive.counters++
  }

  receive(command: unknown): Turn {
    const { waiting, perSecond, ended, spent } = command as LimitQuestion
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

  follow(): Promise<() => void> {
    return Promise.reject(new HeddleError('unsupported', 'A limit has nothing to follow.'))
  }

  /** What is on its way gets there, or fails, before the next counter reads what there is. */
  async passivate(): Promise<void> {
    await Promise.allSettled(this.#underWay)
    this.#alive.counters--
  }

  get #nowMs(): number { return this.#parts.env.monotonicMs() }

  async #durable(grant: Grant): Promise<Grant> {
    const { intervalMs } = this.#rule
    try {
      await this.#parts.table.append(this.#key, { atMs: this.#parts.env.nowMs(),
        tokens: grant.admitted, keptMs: intervalMs + countedLongerMs })
      return grant
    } finally {
      // Also where nobody knows whether it was written.
      this.#counter.letGo(this.#nowMs, grant.admitted)
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
    // What the counter before this one leased may have been used for so long after its end.
    const overMs = this.#nowMs + leaseMs
    const heard = await this.#parts.askDoors(question, this.#rule.intervalMs + leaseMs)
    this.#learn(heard.flatMap((admits) => admits ?? []))
    if (heard.includes(undefined)) await pause(this.#parts.env, Math.max(0, overMs - this.#nowMs))
  }

  #learn(admits: RecentAdmits): void {
    const nowMs = this.#nowMs
    for (const [agoMs, tokens] of admits.toSorted(([a], [b]) => b - a)) {
      this.#counter.count(nowMs - Math.max(0, agoMs), tokens)
    }
  }
}
