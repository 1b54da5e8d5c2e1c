/** The calls of members that a roll-out has under way, and their results. */

import type { Env } from '../../../cluster/index.ts'
import { HeddleError, messageOf } from '../../errors.ts'
import type { RolloutEffect, RolloutNews } from './decide-rollout.ts'
import type { PrepareRequest, RolloutMembers } from './member-port.ts'
import { RunWatch } from './run-watch.ts'

/** Members, revision and bounds for the calls of one roll-out. */
export interface MemberCallsParts {
  readonly members: RolloutMembers
  readonly env: Pick<Env, 'monotonicMs' | 'nowMs'>
  readonly options: PrepareRequest
  /** The revision to compare with; null if there was none. */
  readonly from: string | null
  /**
   * Makes the trial run, which ends with the signal. Resolves with its fault; null if it was good.
   */
  tryOut(signal: AbortSignal): Promise<string | null>
  /** Milliseconds that a member may take to load the revision. */
  readonly silentMs: number
  /** Called when there is news. */
  arrived(): void
}

/** A call that failed is made again, and runs are counted, after this time. */
const againMs = 900

interface Call {
  readonly firstAtMs: number
  /** Undefined while it is under way. */
  endedAtMs?: number | undefined
  /** Error of the last try. */
  problem?: string
}

/**
 * All calls of one roll-out. Each is under way once. A failed call is made again when asked for.
 */
export class MemberCalls {
  readonly #parts: MemberCallsParts
  readonly #calls = new Map<string, Call>()
  readonly #watch = new RunWatch()
  readonly #trial = new AbortController()
  #news: RolloutNews[] = []

  constructor(parts: MemberCallsParts) {
    this.#parts = parts
  }

  /** The news so far, which stays until it is dropped. Those that were silent are among it. */
  news(live: readonly string[]): readonly RolloutNews[] {
    const { env, silentMs, options } = this.#parts
    const late = live.filter((member) => {
      const call = this.#calls.get(`prepare ${member}`)
      return call !== undefined && env.monotonicMs() - call.firstAtMs >= silentMs &&
        !this.#news.some((one) => one.kind === 'prepared' && one.member === member)
    })
    const verdict = this.#watch.verdict(env.nowMs())
    return [...this.#news,
      ...late.map((member): RolloutNews => ({ kind: 'silent', member,
        reason: this.#silence(member, options) })
      ), ...verdict === undefined ? [] : [{ kind: 'verdict' as const, reason: verdict }]]
  }

  /** Forgets the news that a decision was made on and that is in the record now. */
  drop(news: readonly RolloutNews[]): void {
    for (const one of news) {
      if (one.kind === 'prepared') this.#calls.delete(`prepare ${one.member}`)
    }
    this.#news = this.#news.filter((one) => !news.includes(one))
  }

  /** Starts what is not under way. */
  start(effects: readonly RolloutEffect[]): void {
    for (const { kind, member } of effects) {
      const name = `${kind} ${member}`
      const call = this.#calls.get(name)
      const nowMs = this.#parts.env.monotonicMs()
      if (call !== undefined && call.endedAtMs === undefined) continue
      if (call?.endedAtMs !== undefined && nowMs - call.endedAtMs < againMs) continue
      const begun: Call = { ...call, firstAtMs: call?.firstAtMs ?? nowMs, endedAtMs: undefined }
      this.#calls.set(name, begun)
      void this.#make(kind, member).catch((error: unknown) => {
        begun.problem = messageOf(error)
      }).finally(() => {
        begun.endedAtMs = this.#parts.env.monotonicMs()
      })
    }
  }

  /** Ends a trial run, because its result is not needed any more. */
  close(): void {
    this.#trial.abort(new HeddleError('unavailable', 'The roll-out has ended without it.'))
  }

  async #make(kind: RolloutEffect['kind'], member: string): Promise<void> {
    const { members, options, env } = this.#parts
    if (kind === 'tally') return await this.#count(member)
    if (kind === 'try') {
      const reason = await this.#parts.tryOut(this.#trial.signal)
      return this.#add({ kind: 'tried', reason })
    }
    if (kind === 'prepare') {
      this.#add({ kind: 'prepared', member, answer: await members.prepare(member, options) })
      return
    }
    await members.learn(member, options.deployment)
    this.#add({ kind: 'confirmed', member, atMs: env.nowMs() })
  }

  #add(news: RolloutNews): void {
    this.#news.push(news)
    this.#parts.arrived()
  }

  async #count(member: string): Promise<void> {
    const { members, options, from, env, arrived } = this.#parts
    if (from !== null && this.#watch.lacksBefore(member)) {
      this.#watch.addBefore(member, await members.tally(member, { ...options, revision: from }))
    }
    this.#watch.add(member, await members.tally(member, options), env.nowMs())
    if (this.#watch.verdict(env.nowMs()) !== undefined) arrived()
  }

  #silence(member: string, { revision }: PrepareRequest): string {
    const problem = this.#calls.get(`prepare ${member}`)?.problem
    return `Member ${member} did not load ${revision} within ` +
      `${Math.round(this.#parts.silentMs / 1_000)} s${problem === undefined ? '.' : `: ${problem}`}`
  }
}
