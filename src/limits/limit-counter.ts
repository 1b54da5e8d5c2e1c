/**
 * The exact counter of one limit for one key, user or address: a sliding log of what it admitted.
 *
 * No window as long as the interval contains more than `count`:
 * 1. What is let through at once counts from that moment, for the whole interval. What must be
 *    written first is held, and counts from when it is written.
 * 2. A lease is valid from when it was asked for, and counts until one interval after its end. The
 *    counter computes that end from when it received the question, which is later. So each token
 *    counts for the whole interval after it is used, whenever that is.
 * 3. A front door that reports when it used the tokens of an ended lease is believed. Those count
 *    from these moments, and the unused ones are available again.
 * 4. What is refused does not count.
 */

import { TimeRing } from './time-ring.ts'

/** Count of requests that are allowed in an interval. */
export interface Limit {
  readonly count: number
  readonly intervalMs: number
}

/** Request of a front door for tokens. */
export interface TokenQuestion {
  /** Requests that wait for the answer. */
  readonly waiting: number
  /** Further requests that are expected per second. */
  readonly perSecond: number
}

/** Answer of a counter to a front door. */
export interface Grant {
  /** Name of the counter, which is unique for ever. */
  readonly counter: string
  /** Number of waiting requests that may continue. */
  readonly admitted: number
  readonly lease?: Lease
  /** Tokens that are left. */
  readonly remaining: number
  /** Time until a token is free; 0 if one is. */
  readonly waitMs: number
}

/** Tokens that a front door may give out by itself. */
export interface Lease {
  readonly id: string
  readonly tokens: number
  /** Time that the lease is valid, from when the question was asked. */
  readonly goodMs: number
}

/** Requests that were let through, oldest first: their age (at least), and their number. */
export type RecentAdmits = readonly (readonly [agoMs: number, tokens: number])[]

/** A lease whose tokens are not used any more. */
export interface EndedLease {
  readonly id: string
  readonly used: RecentAdmits
}

/** Share of what is left that goes into one lease at most: others want some too. */
const leaseShare = 1 / 16
/** Share left below which there are no leases, so that each request asks the counter. */
const scarceShare = 0.1
/** Share left above which leases are long, so that occasional requests need not wait. */
const plentyShare = 0.5
/**
 * Lengths of leases in parts of the interval. A lease whose end is not reported counts longer by
 * this much.
 */
const [shortPart, longPart] = [0.005, 0.1]
const leaseMaxMs = 1_000

/** The longest time that a lease is valid. */
export function longestLeaseMs({ intervalMs }: Limit): number {
  return Math.min(leaseMaxMs, intervalMs * longPart)
}

/** Counts for one limit and subject. Pure but for its own state; belongs to the limit actor. */
export class LimitCounter {
  readonly #limit: Limit
  readonly #holds: boolean
  readonly #name: string
  readonly #admitted: TimeRing
  /** Leases by id. None ends before an earlier one, so it may count a little too long. */
  readonly #leases = new Map<string, { readonly endMs: number; readonly tokens: number }>()
  #leased = 0
  /** The end of the lease that ends last. */
  #endMs = 0
  /** Admits that are still being written. */
  #held = 0
  #granted = 0

  /** `name` must be unique for ever. A counter that `holds` leases nothing. */
  constructor(limit: Limit, { name, holds }: { readonly name: string; readonly holds: boolean }) {
    this.#limit = limit
    this.#holds = holds
    this.#name = name
    this.#admitted = new TimeRing(limit.count)
  }

  /** Answers a question. All times are of a clock that never goes back. */
  take(nowMs: number, { waiting, perSecond }: TokenQuestion): Grant {
    let left = this.remaining(nowMs)
    const admitted = Math.min(waiting, left)
    if (this.#holds) this.#held += admitted
    else this.#admitted.push(nowMs, admitted)
    left -= admitted
    const lease = this.#lease(nowMs, left, perSecond)
    if (lease !== undefined) left -= lease.tokens
    return { counter: this.#name, admitted, ...lease && { lease }, remaining: left,
      waitMs: left > 0 ? 0 : this.#waitMs(nowMs) }
  }

  /** Lets this many of the held tokens through now. */
  release(nowMs: number, tokens: number): void {
    this.#held -= tokens
    this.#admitted.push(nowMs, tokens)
  }

  /** Notes an ended lease. Ignores leases that another counter granted. */
  end(nowMs: number, { id, used }: EndedLease): void {
    const lease = this.#leases.get(id)
    if (lease === undefined) return
    this.#leases.delete(id)
    this.#leased -= lease.tokens
    for (const [agoMs, tokens] of used) this.count(nowMs - agoMs, tokens)
  }

  /** Counts what was let through elsewhere. */
  count(atMs: number, tokens: number): void {
    this.#admitted.push(atMs, tokens)
  }

  remaining(nowMs: number): number {
    return Math.max(0, this.#limit.count - this.used(nowMs))
  }

  /** Number of tokens that count at present. */
  used(nowMs: number): number {
    const overMs = nowMs - this.#limit.intervalMs
    this.#admitted.dropBefore(overMs)
    for (const [id, { endMs, tokens }] of this.#leases) {
      if (endMs >= overMs) break
      this.#leased -= tokens
      this.#leases.delete(id)
    }
    return this.#counting
  }

  /** Tokens that count, and the time until the first of them is free. Charges nothing. */
  use(nowMs: number): { readonly used: number; readonly waitMs: number } {
    const used = this.used(nowMs)
    if (used === 0) return { used, waitMs: 0 }
    const { value } = this.#inTheirOrder().next()
    const { intervalMs } = this.#limit
    return { used, waitMs: value === undefined ? intervalMs : value[0] + intervalMs - nowMs + 1 }
  }

  #lease(nowMs: number, left: number, perSecond: number): Lease | undefined {
    const { count, intervalMs } = this.#limit
    if (this.#holds || left < count * scarceShare) return undefined
    const part = left < count * plentyShare ? shortPart : longPart
    const goodMs = Math.min(leaseMaxMs, intervalMs * part)
    const ahead = Math.round(perSecond * goodMs / 1_000)
    const tokens = Math.min(ahead, Math.floor(left * leaseShare))
    if (tokens === 0) return undefined
    const id = `${this.#name}:${++this.#granted}`
    this.#endMs = Math.max(this.#endMs, nowMs + goodMs)
    this.#leases.set(id, { endMs: this.#endMs, tokens })
    this.#leased += tokens
    return { id, tokens, goodMs }
  }

  /** Time until a token is free: a millisecond after its interval. */
  #waitMs(nowMs: number): number {
    const { count, intervalMs } = this.#limit
    let ended = this.#counting - count + 1
    for (const [sinceMs, tokens] of this.#inTheirOrder()) {
      ended -= tokens
      if (ended <= 0) return Math.max(0, sinceMs + intervalMs - nowMs) + 1
    }
    // Held tokens expire last.
    return intervalMs + 1
  }

  /** Tokens with the time since when they count, oldest first. */
  *#inTheirOrder(): Generator<readonly [sinceMs: number, tokens: number]> {
    const admitted = this.#admitted
    let index = 0
    for (const { endMs, tokens } of this.#leases.values()) {
      for (; admitted.at(index) <= endMs; index++) yield [admitted.at(index), 1]
      yield [endMs, tokens]
    }
    for (; index < admitted.size; index++) yield [admitted.at(index), 1]
  }

  /** Number of tokens that count, including expired ones that were not dropped yet. */
  get #counting(): number {
    return this.#admitted.size + this.#leased + this.#held
  }
}
