/**
 * One limit for one key, user or address, at a front door: its leased tokens and waiting requests.
 *
 * 1. One question at a time is sent to the counter, for all requests that wait and a few that may
 *    come.
 * 2. A leased token is used before its lease ends, by this clock, from when it was asked for. After
 *    that, the counter learns when tokens were used, soon if some were not.
 * 3. A refused request learns when to come again. Until then the counter is not asked again, for
 *    one second at most.
 * 4. If the counter cannot be reached, the limit says what happens to requests.
 */

import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import { admitPatienceMs } from './limit-actor.ts'
import type { LimitQuestion } from './limit-actor.ts'
import { longestLeaseMs } from './limit-counter.ts'
import type { EndedLease, Grant, RecentAdmits } from './limit-counter.ts'
import type { ChargedLimit } from './limit-rows.ts'
import { RecentTokens } from './recent-tokens.ts'

/** Verdict of a limit on one request. `waitMs` is the time until it may come again. */
export type Verdict =
  | { readonly admitted: true; readonly remaining: number; readonly waitMs: 0 }
  | { readonly admitted: false; readonly remaining: 0; readonly waitMs: number }

/** Counts of requests under a limit here since the start. */
export interface LimitTally {
  /** Let through, including `near` and `alone`. */
  admitted: number
  /** Let through with less than a fifth of the limit left. */
  near: number
  refused: number
  /** Let through while the counter could not be reached. */
  alone: number
  /** Not let through because the counter could not be reached. */
  failed: number
}

/** The limit of one lease, and how it asks the counter. Passed by `LimitClients`. */
export interface TokenLeaseParts {
  readonly env: Env
  readonly limit: ChargedLimit
  readonly tally: LimitTally
  /** Sends a question to the counter of the limit. */
  ask(question: LimitQuestion): Promise<Grant>
  /** Number of front doors that share a limit whose counter cannot be reached. */
  doors(): number
}

/**
 * Time without an answer after which a counter counts as unreachable. A new counter may itself wait
 * a while for other front doors. A limit with `deny` can only wait for it, and an answer that comes
 * too late is lost.
 */
const patienceMs = { allow: 2_500, deny: admitPatienceMs }
const askAgainMs = 500
/** Time that a refusal holds before the counter is asked again. */
const believedMs = 1_000
/** Share of the limit below which requests count as near it. */
const nearShare = 0.2
/** Requests that may wait for one counter. */
const waitingMax = 10_000

interface HeldLease {
  readonly id: string
  tokens: number
  readonly endsMs: number
  /** The next lease is asked for at this many tokens, or at this time. */
  readonly lowTokens: number
  readonly lowMs: number
  readonly used: RecentTokens
}

/** The tokens of one limit and subject. Belongs to `LimitClients`. */
export class TokenLease {
  readonly #parts: TokenLeaseParts
  readonly #spanMs: number
  readonly #recent: RecentTokens
  readonly #waiting: PromiseWithResolvers<Verdict>[] = []
  /** Leases, the one that ends first in front. */
  #leases: HeldLease[] = []
  /** Ended leases that the counter has not been sent. */
  #ended: HeldLease[] = []
  /** Tokens let through alone that the counter has not been sent. */
  #spent = 0
  #asking = false
  /** The counter that asked for recent admits since the last question was sent. */
  #reportedTo: string | undefined
  #freeMs = 0
  #refusedUntilMs = 0
  #lost = false
  #askAgainMs = 0
  /** Tokens left in the counter's last answer, without what was leased. */
  #remaining = 0
  /** Tokens used in this span (as long as the longest lease), and in the one before. */
  #span = { beganMs: 0, tokens: 0, before: 0 }
  #admittedMs = -Infinity

  constructor(parts: TokenLeaseParts) {
    this.#parts = parts
    this.#spanMs = longestLeaseMs(parts.limit)
    this.#recent = new RecentTokens(parts.limit.intervalMs)
  }

  /**
   * Charges a request. Throws `unavailable` if the limit denies on outage and its counter cannot be
   * reached, and `full` if too many wait.
   */
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
   * Gives back ended leases, and reports what was let through alone. Called from time to time.
   * False if there is nothing to keep.
   */
  tidy(): boolean {
    const nowMs = this.#nowMs
    // As long as there is a lease, a later question will report the earlier ones.
    const unused = this.#usable(nowMs) === undefined &&
      this.#ended.some(({ tokens }) => tokens > 0)
    const due = unused || (this.#spent > 0 && nowMs >= this.#askAgainMs)
    if (due && !this.#asking) void this.#ask(0)
    return this.#asking || this.#leases.length > 0 || this.#spent > 0 ||
      this.#recent.sum(nowMs) > 0 || nowMs < this.#refusedUntilMs
  }

  /**
   * Requests let through recently, for a new counter. Nothing that the previous counter granted is
   * used any more. What was let through alone is left out, as it is reported with a question.
   */
  recent(counter: string): RecentAdmits {
    this.#leases = []
    this.#reportedTo = counter
    return this.#recent.recent(this.#nowMs, this.#spent)
  }

  /** Requests let through within the interval, and leased tokens that were not used. */
  lately(): { readonly letThrough: number; readonly held: number } {
    const held = [...this.#leases, ...this.#ended].reduce((sum, { tokens }) => sum + tokens, 0)
    return { letThrough: this.#recent.sum(this.#nowMs), held }
  }

  get #nowMs(): number {
    return this.#parts.env.monotonicMs()
  }

  /** The lease to use; undefined if there is none. */
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
    const { limit, tally } = this.#parts
    const held = this.#leases.reduce((sum, { tokens }) => sum + tokens, 0)
    const remaining = this.#remaining + held
    tally.admitted++
    if (remaining < limit.count * nearShare) tally.near++
    return { admitted: true, remaining, waitMs: 0 }
  }

  #refusal(waitMs: number): Verdict {
    this.#parts.tally.refused++
    return { admitted: false, remaining: 0, waitMs }
  }

  /** Decides without the counter, which cannot be reached. */
  #alone(nowMs: number): Verdict {
    const { limit, tally, doors } = this.#parts
    if (limit.onOutage === 'deny') {
      tally.failed++
      throw outOfReach()
    }
    const share = Math.max(1, Math.floor(limit.count / doors()))
    if (this.#recent.sum(nowMs) >= share) return this.#refusal(askAgainMs)
    this.#spent++
    tally.alone++
    return this.#admit(nowMs)
  }

  async #ask(perSecond = this.#perSecond()): Promise<void> {
    this.#asking = true
    this.#reportedTo = undefined
    const askedMs = this.#nowMs
    const waiting = this.#waiting.length
    const spent = this.#spent
    const ended = this.#ended.map((lease) => endOf(lease, askedMs))
    this.#ended = []
    const question = { waiting, perSecond, ended, spent }
    const stopWaiting = this.#parts.env.after(patienceMs[this.#parts.limit.onOutage],
      () => this.#lose())
    try {
      const grant = await this.#parts.ask(question)
      // A grant of the counter before the one that asked meanwhile is void.
      if (this.#reportedTo === undefined || this.#reportedTo === grant.counter) {
        this.#spent -= spent
        this.#take(grant, askedMs)
      }
    } catch (error) {
      this.#parts.env.log.debug('The counter of a limit cannot be asked.', {
        limit: this.#parts.limit.name,
        error,
      })
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
      this.#leases.push({ id, tokens, endsMs: askedMs + goodMs, lowTokens: Math.floor(tokens / 2),
        lowMs: askedMs + goodMs / 2, used: new RecentTokens(this.#parts.limit.intervalMs) })
      this.#leases.sort((a, b) => a.endsMs - b.endsMs)
    }
    const served = this.#waiting.splice(0, admitted)
    for (const { resolve } of served) resolve(this.#admit(nowMs))
    // Requests that gave up waiting were let through alone. Now they are counted.
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

  /** Twice the recent use; none if a lease would have ended before it was used. */
  #perSecond(): number {
    const nowMs = this.#nowMs
    if (this.#parts.limit.durable || nowMs - this.#admittedMs >= this.#spanMs) return 0
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
  return { id, used: used.recent(nowMs, 0) }
}

function outOfReach(): HeddleError {
  return new HeddleError('unavailable', 'The limit for this request cannot be checked right ' +
    'now, so nothing was done: try again in a moment.')
}
