/**
 * Changes of `traces.db`: those that wait share a commit of some milliseconds. Tenants are served
 * by the time that their changes have taken, each in its order.
 */

import { FairQueue } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Database } from '../file/database.ts'
import { busy, sqliteCode } from '../file/disk-error.ts'
import { commitUs } from '../span-rows/hour-rows.ts'
import type { HourRows } from '../span-rows/hour-rows.ts'
import type { TenantUse } from '../span-rows/tenant-use.ts'

/**
 * Weight of the changes that share a commit, and milliseconds that they may take together: who
 * comes meanwhile waits for the whole commit. A span weighs 1.
 */
const [weightMax, commitMs] = [1_000, 20]
/** Milliseconds from which on a change is long. Short ones do not wait for it in their commit. */
const longMs = 5
/** Weight of a change besides its spans, and the share of a new measurement in the pace. */
const [ownWeight, newShare] = [5, 0.2]

/** The key of changes that no tenant asked for. They make room, and are charged nothing. */
export const ownWork = ''

interface Job {
  readonly key: string
  readonly weight: number
  readonly work: () => unknown
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** Connection, clock and counts of a queue. */
export interface CommitQueueParts {
  readonly database: Database
  readonly hours: HourRows
  readonly use: TenantUse
  readonly env: Env
}

/** The queue of the one thread that writes. */
export class CommitQueue {
  readonly #parts: CommitQueueParts
  readonly #jobs = new FairQueue<Job>()
  /** A change for which the last commit had no time left: the next commit begins with it. */
  #next: Job | undefined
  /** Milliseconds that a weight of 1 takes. */
  #pace = 0
  #closed = false

  constructor(parts: CommitQueueParts) {
    this.#parts = parts
  }

  /** True if nothing waits. */
  get isIdle(): boolean {
    return this.#jobs.size === 0 && this.#next === undefined
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Runs `work` of a tenant in a transaction, and resolves when that is on disk. */
  run<Result>(tenant: string, weight: number, work: () => Result): Promise<Result> {
    if (this.#closed) return Promise.reject(new HeddleError('unavailable'))
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (this.isIdle) setImmediate(() => this.#commitSome())
    this.#jobs.push(tenant, { key: tenant, weight: weight + ownWeight, work, resolve, reject })
    return promise as Promise<Result>
  }

  /** Commits all that waits. Later changes are refused. */
  close(): void {
    this.#closed = true
    while (!this.isIdle) this.#commit(this.#waiting())
  }

  #commitSome(): void {
    if (this.isIdle) return
    this.#commit(this.#waiting())
    this.#parts.database.tidy()
    if (!this.isIdle) setImmediate(() => this.#commitSome())
  }

  /** The first change that waits, and as many more as this commit has time for. */
  *#waiting(): Generator<Job, void, void> {
    const { env } = this.#parts
    const beganMs = env.monotonicMs()
    let hasShort = false
    for (let weight = 0; weight < weightMax;) {
      const next = this.#next ?? this.#jobs.take()?.item
      if (next === undefined) return
      const expectedMs = next.weight * this.#pace
      const isLong = expectedMs > longMs
      const hasTime = env.monotonicMs() - beganMs + expectedMs <= commitMs && !(isLong && hasShort)
      this.#next = weight > 0 && !hasTime ? next : undefined
      if (this.#next !== undefined) return
      hasShort ||= !isLong
      weight += next.weight
      yield next
    }
  }

  /** Commits all jobs, or each by itself if that fails, so that only those fail that must. */
  #commit(jobs: Iterable<Job>): void {
    const begun: Job[] = []
    try {
      const results = this.#transaction(jobs, begun)
      for (const [index, { resolve }] of begun.entries()) resolve(results[index])
    } catch (error) {
      // None could be begun.
      if (begun.length === 0) begun.push(...jobs)
      // Each would wait as long for the process that holds the file.
      if (begun.length === 1 || sqliteCode(error) === busy) {
        for (const { reject } of begun) reject(error)
      } else for (const job of begun) this.#commit([job])
    }
  }

  #transaction(jobs: Iterable<Job>, begun: Job[]): readonly unknown[] {
    const { database, hours, use, env } = this.#parts
    try {
      let touchedMs = 0
      const results = database.transaction(() => {
        const done: unknown[] = []
        for (const job of jobs) {
          begun.push(job)
          const beganMs = env.monotonicMs()
          done.push(job.work())
          const tookMs = env.monotonicMs() - beganMs
          this.#pace += (tookMs / job.weight - this.#pace) * newShare
          if (job.key !== ownWork) this.#jobs.charge(job.key, tookMs)
        }
        use.writeChanged()
        touchedMs = env.monotonicMs()
        hours.writeTouched(env.nowMs() * 1000)
        return done
      })
      const tookUs = (env.monotonicMs() - touchedMs) * 1000
      // A roll-up may have been kept meanwhile whose scan missed this commit.
      if (tookUs >= commitUs) {
        database.transaction(() => hours.writeTouched(env.nowMs() * 1000), false)
      }
      return results
    } finally {
      hours.forget()
      use.forget()
    }
  }
}
