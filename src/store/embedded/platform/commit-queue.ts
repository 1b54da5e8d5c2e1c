/**
 * Changes of `traces.db`: those that wait share a commit. Tenants are served by the time that their
 * changes have taken, each in its order.
 */

import { FairQueue } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Database } from '../file/database.ts'
import { busy, sqliteCode } from '../file/disk-error.ts'
import { commitUs } from './hour-rows.ts'
import type { HourRows } from './hour-rows.ts'
import type { TenantUse } from './tenant-use.ts'

/**
 * Weight of the changes that share a commit, and milliseconds after which no more is begun: who
 * comes meanwhile waits for the whole commit. A span weighs 1.
 */
const [weightMax, beginMs] = [1_000, 15]

/** The key of changes that no tenant asked for. They make room, and are charged nothing. */
export const ownWork = ''

interface Job {
  readonly key: string
  readonly weight: number
  readonly work: () => unknown
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** What a queue works with. */
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
  #closed = false

  constructor(parts: CommitQueueParts) {
    this.#parts = parts
  }

  /** True if nothing waits. */
  get isIdle(): boolean {
    return this.#jobs.size === 0
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Runs `work` of a tenant in a transaction, and resolves when that is on disk. */
  run<Result>(tenant: string, weight: number, work: () => Result): Promise<Result> {
    if (this.#closed) return Promise.reject(new HeddleError('unavailable'))
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (this.#jobs.size === 0) setImmediate(() => this.#commitSome())
    this.#jobs.push(tenant, { key: tenant, weight, work, resolve, reject })
    return promise as Promise<Result>
  }

  /** Commits all that waits. Later changes are refused. */
  close(): void {
    this.#closed = true
    while (this.#jobs.size > 0) this.#commit(this.#waiting())
  }

  #commitSome(): void {
    if (this.#jobs.size === 0) return
    this.#commit(this.#waiting())
    this.#parts.database.tidy()
    if (this.#jobs.size > 0) setImmediate(() => this.#commitSome())
  }

  /** The jobs that wait, as long as one more may begin in this commit. */
  *#waiting(): Generator<Job, void, void> {
    const beganMs = this.#parts.env.monotonicMs()
    for (let weight = 0; weight < weightMax;) {
      const next = this.#jobs.take()
      if (next === undefined) return
      weight += next.item.weight
      yield next.item
      if (this.#parts.env.monotonicMs() - beganMs >= beginMs) return
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
          if (job.key !== ownWork) this.#jobs.charge(job.key, env.monotonicMs() - beganMs)
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
