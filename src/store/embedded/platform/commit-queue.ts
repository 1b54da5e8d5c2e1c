/** Changes of `traces.db` in their order: those that wait share a commit. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Database } from '../file/database.ts'
import { busy, sqliteCode } from '../file/disk-error.ts'
import { commitUs } from './hour-rows.ts'
import type { HourRows } from './hour-rows.ts'

/** Weight of the changes that share a commit; a heavier one has its own. A span weighs 1. */
const weightMax = 1_000

interface Job {
  readonly weight: number
  readonly work: () => unknown
  readonly resolve: (result: unknown) => void
  readonly reject: (error: unknown) => void
}

/** What a queue works with. */
export interface CommitQueueParts {
  readonly database: Database
  readonly hours: HourRows
  readonly env: Env
}

/** The queue of the one thread that writes. */
export class CommitQueue {
  readonly #parts: CommitQueueParts
  readonly #jobs: Job[] = []
  #closed = false

  constructor(parts: CommitQueueParts) {
    this.#parts = parts
  }

  /** True if nothing waits. */
  get isIdle(): boolean {
    return this.#jobs.length === 0
  }

  get isClosed(): boolean {
    return this.#closed
  }

  /** Runs `work` in a transaction, and resolves when that is on disk. */
  run<Result>(weight: number, work: () => Result): Promise<Result> {
    if (this.#closed) return Promise.reject(new HeddleError('unavailable'))
    const { promise, resolve, reject } = Promise.withResolvers<unknown>()
    if (this.#jobs.length === 0) setImmediate(() => this.#commitSome())
    this.#jobs.push({ weight, work, resolve, reject })
    return promise as Promise<Result>
  }

  /** Commits all that waits. Later changes are refused. */
  close(): void {
    this.#closed = true
    while (this.#jobs.length > 0) this.#commit(this.#next())
  }

  #commitSome(): void {
    if (this.#jobs.length === 0) return
    this.#commit(this.#next())
    this.#parts.database.tidy()
    if (this.#jobs.length > 0) setImmediate(() => this.#commitSome())
  }

  #next(): readonly Job[] {
    let [weight, count] = [0, 0]
    for (const job of this.#jobs) {
      if (count > 0 && weight + job.weight > weightMax) break
      weight += job.weight
      count += 1
    }
    return this.#jobs.splice(0, count)
  }

  /** Commits all jobs, or each by itself if that fails, so that only those fail that must. */
  #commit(jobs: readonly Job[]): void {
    try {
      const results = this.#transaction(jobs)
      for (const [index, { resolve }] of jobs.entries()) resolve(results[index])
    } catch (error) {
      // Each would wait as long for the process that holds the file.
      if (jobs.length === 1 || sqliteCode(error) === busy) {
        for (const { reject } of jobs) reject(error)
      } else for (const job of jobs) this.#commit([job])
    }
  }

  #transaction(jobs: readonly Job[]): readonly unknown[] {
    const { database, hours, env } = this.#parts
    try {
      let touchedMs = 0
      const results = database.transaction(() => {
        const done = jobs.map(({ work }) => work())
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
    }
  }
}
