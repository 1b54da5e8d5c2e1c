/**
 * The exact counter of one limit and one who is limited: a sliding log of what it let through.
 *
 * In no window as long as the interval are there more than `count`:
 *   1. What is let through at once counts from that moment, for the whole interval. What is to be
 *      written down first is held, and counts from when that is done.
 *   2. A lease is good from when it was asked for, and counts until the interval after its end; its
 *      end is reckoned from when it was heard of, which is later. So whenever one of its tokens is
 *      used, it counts for the whole interval after that.
 *   3. Whoever says when he used what of a lease that is over, is believed: so much counts from
 *      those moments, and the rest of it is there again.
 *   4. What is refused does not count.
 */

import { TimeRing } from './time-ring.ts'

export interface Limit {
  readonly count: number
  readonly intervalMs: number
}

export interface TokenQuestion {
  /** Requests that wait for the answer. */
  readonly waiting: number
  /** As many more are expected in each second. */
  readonly perSecond: number
}

export interface Grant {
  /** Who says so: no two counters have the same name. */
  readonly counter: string
  /** Of those that waited. */
  readonly admitted: number
  readonly lease?: Lease
  /** What is left. */
  readonly remaining: number
  /** Until there is one again; 0 where there is one. */
  readonly waitMs: number
}

export interface Lease {
  readonly id: string
  readonly tokens: number
  /** Since the question was asked. */
  readonly goodMs: number
}

/** What was let through, the first in front: so long ago at the least, so many. */
export type RecentAdmits = readonly (readonly [agoMs: number, tokens: number])[]

/** A lease of which no token is used any more. */
export interface EndedLease {
  readonly id: string
  readonly used: RecentAdmits
}

/** So much of what is left goes into one lease at the most: others want some too. */
const leaseShare = 1 / 16
/** With less than this of the limit left, each request is asked for. */
const scarceShare = 0.1
/** With more than this of it left, leases are long: who comes now and then waits for nobody. */
const plentyShare = 0.5
/** Parts of the interval: whoever tells nobody that a lease ended has it counted longer by it. */
const [shortPart, longPart] = [0.005, 0.1]
const leaseMaxMs = 1_000

/** How long a lease is good at the most. */
export function longestLeaseMs({ intervalMs }: Limit): number {
  return Math.min(leaseMaxMs, intervalMs * longPart)
}

export class LimitCounter {
  readonly #limit: Limit
  readonly #holds: boolean
  readonly #name: string
  readonly #admitted: TimeRing
  /** By their ids. None ends before one that was granted earlier: it counts too long for that. */
  readonly #leases = new Map<string, { readonly endMs: number; readonly tokens: number }>()
  #leased = 0
  /** Of the lease that ends last. */
  #endMs = 0
  /** Let through, as soon as it is written down. */
  #held = 0
  #granted = 0

  /** No other counter ever had its `name`. One that `holds` leases nothing. */
  constructor(limit: Limit, { name, holds }: { readonly name: string
    readonly holds: boolean }) {
    this.#limit = limit
    this.#holds = holds
    this.#name = name
    this.#admitted = new TimeRing(limit.count)
  }

  /** Of a clock that never goes back, in all calls. */
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

  /** So many that were held are let through now. */
  letGo(nowMs: number, tokens: number): void {
    this.#held -= tokens
    this.#admitted.push(nowMs, tokens)
  }

  /** What another counter granted is none of this one's. */
  end(nowMs: number, { id, used }: EndedLease): void {
    const lease = this.#leases.get(id)
    if (lease === undefined) return
    this.#leases.delete(id)
    this.#leased -= lease.tokens
    for (const [agoMs, tokens] of used) this.count(nowMs - agoMs, tokens)
  }

  /** What was let through elsewhere. */
  count(atMs: number, tokens: number): void {
    this.#admitted.push(atMs, tokens)
  }

  remaining(nowMs: number): number {
    return Math.max(0, this.#limit.count - this.used(nowMs))
  }

  /** How many count now. */
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

  /** Until so many are over that one is free: a millisecond after its interval. */
  #waitMs(nowMs: number): number {
    const { count, intervalMs } = this.#limit
    let over = this.#counting - count + 1
    for (const [sinceMs, tokens] of this.#inTheirOrder()) {
      over -= tokens
      if (over <= 0) return Math.max(0, sinceMs + intervalMs - nowMs) + 1
    }
    // Those that are held are over last.
    return intervalMs + 1
  }

  /** Since when they count, and how many. */
  * #inTheirOrder(): Generator<readonly [sinceMs: number, tokens: number]> {
    const admitted = this.#admitted
    let place = 0
    for (const { endMs, tokens } of this.#leases.values()) {
      for (; admitted.at(place) <= endMs; place++) yield [admitted.at(place), 1]
      yield [endMs, tokens]
    }
    for (; place < admitted.size; place++) yield [admitted.at(place), 1]
  }

  /** How many count, those included that are over and were not dropped yet. */
  get #counting(): number {
    return this.#admitted.size + this.#leased + this.#held
  }
}
