/**
 * One limit of one who is limited, as a front door has it: tokens that it leased, and who waits.
 *
 *   1. One question at a time is under way to the counter, for all who wait and a few who may come.
 *   2. A leased token is used before its lease ends, by this clock, from when it was asked for. Of
 *      a lease that is over the counter hears when it was used, soon where some of it was not.
 *   3. Whoever is refused learns when to come again; until then nobody else asks, for a second at
 *      the most.
 *   4. Where the counter is out of reach, the row says what becomes of requests.
 */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { admitPatienceMs, longestLeaseMs } from '../../records/index.ts'
import type { EndedLease, Grant, LimitQuestion, RecentAdmits } from '../../records/index.ts'
import { RecentTokens } from './recent-tokens.ts'
import type { LimitRow } from './table.ts'

export type Verdict =
  | { readonly admitted: true; readonly remaining: number; readonly waitMs: 0 }
  | { readonly admitted: false; readonly remaining: 0; readonly waitMs: number }

/** How requests under a row fared here since the start. */
export interface LimitTally {
  /** Let through, those near and alone included. */
  admitted: number
  /** Let through with less than a fifth of the limit left. */
  near: number
  refused: number
  /** Let through while the counter was out of reach. */
  alone: number
  /** Not let through because it was. */
  failed: number
}

export interface LedgerParts {
  readonly env: Env
  readonly row: LimitRow
  readonly tally: LimitTally
  ask(question: LimitQuestion): Promise<Grant>
  /** How many front doors share a limit whose counter is out of reach. */
  doors(): number
}

/**
 * A counter that says nothing for so long is out of reach; one that begins may wait a while itself,
 * for other front doors. Where the row is closed there is nothing to do but to wait for it, and
 * what it says too late is lost.
 */
const patienceMs = { open: 2_500, closed: admitPatienceMs }
const askAgainMs = 500
/** How long a refusal is believed without another look. */
const believedMs = 1_000
/** With less than this of the limit left, somebody is near it. */
const nearShare = 0.2
/** Requests that may wait for one counter. */
const waitingMax = 10_000

interface HeldLease {
  readonly id: string
  tokens: number
  readonly endsMs: number
  /** From here on, in tokens or time, the next one is asked for. */
  readonly lowTokens: number
  readonly lowMs: number
  readonly used: RecentTokens
}

export class LimitLedger {
  readonly #parts: LedgerParts
  readonly #spanMs: number
  readonly #recent: RecentTokens
  readonly #waiting: PromiseWithResolvers<Verdict>[] = []
  /** The one that ends first in front. */
  #leases: HeldLease[] = []
  /** That the counter has not heard of. */
  #ended: HeldLease[] = []
  /** Let through without the counter, which has not heard of it. */
  #spent = 0
  #asking = false
  /** The counter that asked what was let through, while a question was under way. */
  #toldTo: string | undefined
  #freeMs = 0
  #refusedUntilMs = 0
  #lost = false
  #askAgainMs = 0
  /** As the counter said it last, beside what was leased. */
  #remaining = 0
  /** Tokens that were used in this span, as long as the longest lease, and in the one before. */
  #span = { beganMs: 0, tokens: 0, before: 0 }
  #admittedMs = -Infinity

  constructor(parts: LedgerParts) {
    this.#parts = parts
    this.#spanMs = longestLeaseMs(parts.row)
    this.#recent = new RecentTokens(parts.row.intervalMs)
  }

  /** Throws `unavailable` where the row is closed while its counter is out of reach. */
  charge(): Verdict | Promise<Verdict> {
    const nowMs = this.#nowMs
    const lease = this.#usable(nowMs)
    if (lease !== undefined) {
      use(lease, nowMs)
      if (lease.tokens <= lease.lowTokens || nowMs >= lease.lowMs) this.#askAhead(lease)
      return this.#admit(nowMs)
    }
    if (nowMs < this.#refusedUntilMs) return this.#refusal(this.#freeMs - nowMs)
    if (this.#lost && (this.#asking || nowMs < this.#askAgainMs)) return this.#alone(nowMs)
    if (this.#waiting.length >= waitingMax) throw new HeddleError('full')
    const waiter = Promise.withResolvers<Verdict>()
    this.#waiting.push(waiter)
    if (!this.#asking) void this.#ask()
    return waiter.promise
  }

  /**
   * Gives back what is over, and tells what was let through alone. Called from time to time. False
   * where there is nothing to keep.
   */
  tidy(): boolean {
    const nowMs = this.#nowMs
    // As long as there is a lease, there is a question to come that tells of those before it.
    const unused = this.#usable(nowMs) === undefined &&
      this.#ended.some(({ tokens }) => tokens > 0)
    const due = unused || (this.#spent > 0 && nowMs >= this.#askAgainMs)
    if (due && !this.#asking) void this.#ask(0)
    return this.#asking || this.#leases.length > 0 || this.#spent > 0 ||
      this.#recent.sum(nowMs) > 0 || nowMs < this.#refusedUntilMs
  }

  /**
   * A counter that begins asks for it; nothing that the one before it granted is used any more.
   * What no counter has heard of is told with a question.
   */
  told(counter: string): RecentAdmits {
    this.#leases = []
    this.#toldTo = counter
    return this.#recent.told(this.#nowMs, this.#spent)
  }

  get #nowMs(): number { return this.#parts.env.monotonicMs() }

  /** The lease to use, if there is one. */
  #usable(nowMs: number): HeldLease | undefined {
    for (;;) {
      const [lease] = this.#leases
      if (lease === undefined || (lease.endsMs > nowMs && lease.tokens > 0)) return lease
      this.#leases.shift()
      this.#ended.push(lease)
    }
  }

  #askAhead(lease: HeldLease): void {
    if (!this.#asking && lease === this.#leases.at(-1)) void this.#ask()
  }

  #admit(nowMs: number): Verdict {
    this.#recent.add(nowMs, 1)
    this.#admittedMs = nowMs
    this.#roll(nowMs)
    this.#span.tokens++
    const { row, tally } = this.#parts
    const held = this.#leases.reduce((sum, { tokens }) => sum + tokens, 0)
    const remaining = this.#remaining + held
    tally.admitted++
    if (remaining < row.count * nearShare) tally.near++
    return { admitted: true, remaining, waitMs: 0 }
  }

  #refusal(waitMs: number): Verdict {
    this.#parts.tally.refused++
    return { admitted: false, remaining: 0, waitMs }
  }

  /** The counter is out of reach. */
  #alone(nowMs: number): Verdict {
    const { row, tally, doors } = this.#parts
    if (row.without === 'closed') {
      tally.failed++
      throw outOfReach()
    }
    const share = Math.max(1, Math.floor(row.count / doors()))
    if (this.#recent.sum(nowMs) >= share) return this.#refusal(askAgainMs)
    this.#spent++
    tally.alone++
    return this.#admit(nowMs)
  }

  async #ask(perSecond = this.#perSecond()): Promise<void> {
    this.#asking = true
    this.#toldTo = undefined
    const askedMs = this.#nowMs
    const waiting = this.#waiting.length
    const spent = this.#spent
    const ended = this.#ended.map((lease) => endOf(lease, askedMs))
    this.#ended = []
    const question = { waiting, perSecond, ended, spent }
    const stopWaiting = this.#parts.env.after(patienceMs[this.#parts.row.without],
      () => this.#lose())
    try {
      const grant = await this.#parts.ask(question)
      // The counter before the one that was told: it granted what that one knows nothing of.
      if (this.#toldTo === undefined || this.#toldTo === grant.counter) {
        this.#spent -= spent
        this.#take(grant, askedMs)
      }
    } catch (error) {
      this.#parts.env.log.debug('The counter of a limit cannot be asked.',
        { limit: this.#parts.row.name, error })
      this.#lose()
    }
    stopWaiting()
    this.#asking = false
    if (this.#waiting.length > 0) void this.#ask()
  }

  #take({ admitted, lease, remaining, waitMs }: Grant, askedMs: number): void {
    const nowMs = this.#nowMs
    this.#lost = false
    this.#remaining = remaining
    if (lease !== undefined) {
      const { id, tokens, goodMs } = lease
      this.#leases.push({ id, tokens, endsMs: askedMs + goodMs,
        lowTokens: Math.floor(tokens / 2), lowMs: askedMs + goodMs / 2,
        used: new RecentTokens(this.#parts.row.intervalMs) })
      this.#leases.sort((a, b) => a.endsMs - b.endsMs)
    }
    const served = this.#waiting.splice(0, admitted)
    for (const { resolve } of served) resolve(this.#admit(nowMs))
    // Those who did not wait so long were let through without: now they are counted.
    this.#spent = Math.max(0, this.#spent - (admitted - served.length))
    if (waitMs > 0) this.#refuse(nowMs, waitMs)
    for (let held; this.#waiting.length > 0 && (held = this.#usable(nowMs));) {
      use(held, nowMs)
      this.#waiting.shift()!.resolve(this.#admit(nowMs))
    }
  }

  #refuse(nowMs: number, waitMs: number): void {
    this.#freeMs = nowMs + waitMs
    this.#refusedUntilMs = nowMs + Math.min(waitMs, believedMs)
    for (const { resolve } of this.#waiting.splice(0)) resolve(this.#refusal(waitMs))
  }

  #lose(): void {
    const nowMs = this.#nowMs
    this.#lost = true
    this.#remaining = 0
    this.#askAgainMs = nowMs + askAgainMs
    for (const { resolve, reject } of this.#waiting.splice(0)) {
      try {
        resolve(this.#alone(nowMs))
      } catch (error) {
        reject(error)
      }
    }
  }

  /** Twice what was used of late; none where a lease would have ended before it was used. */
  #perSecond(): number {
    const nowMs = this.#nowMs
    if (this.#parts.row.durable || nowMs - this.#admittedMs >= this.#spanMs) return 0
    this.#roll(nowMs)
    const lately = Math.max(this.#span.tokens, this.#span.before)
    return 2 * lately * 1_000 / this.#spanMs
  }

  #roll(nowMs: number): void {
    const spans = Math.floor((nowMs - this.#span.beganMs) / this.#spanMs)
    if (spans < 1) return
    const before = spans === 1 ? this.#span.tokens : 0
    this.#span = { beganMs: nowMs, tokens: 0, before }
  }
}

function use(lease: HeldLease, nowMs: number): void {
  lease.tokens--
  lease.used.add(nowMs, 1)
}

function endOf({ id, used }: HeldLease, nowMs: number): EndedLease {
  return { id, used: used.told(nowMs, 0) }
}

function outOfReach(): HeddleError {
  return new HeddleError('unavailable', 'What was let through of this cannot be counted right ' +
    'now, and nothing was done: ask again in a moment.')
}
