/**
 * Removes traces when asked, and what has lived long enough while little else is to be done, or
 * what has no place on the disk.
 */

import { throttleLog } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { bytesOfUuid, uuidOfBytes } from '../../../platform/index.ts'
import type { Removal, SpanPlace } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { FeedbackRows } from './feedback-rows.ts'
import { hourUs } from './hour-rows.ts'
import type { HourRows } from './hour-rows.ts'
import type { NumberedProject, Numbers } from './numbers.ts'
import type { SpanDeletion } from './span-deletion.ts'

/** Spans that are deleted at a time; one takes about as long as a write of one. */
const stepOf = 2_000
/** Projects that are looked at in one turn. */
const projectsOf = 100
/** Time between steps, between looks at the disk, and between looks at all projects. */
const [stepMs, diskMs, roundMs] = [20, 1_000, 60_000]
/** Time for which writes that never pause go first, and time between steps among them. */
const [patienceMs, busyMs] = [10_000, 200]
/** Late operations on a removed trace are refused for this long. */
const goneMs = 30 * 86_400_000
const dayMs = 86_400_000

/** What a removal works with. */
export interface SpanRemovalParts {
  readonly database: Database
  readonly numbers: Numbers
  readonly hours: HourRows
  readonly feedback: FeedbackRows
  readonly deletion: SpanDeletion
  readonly queue: CommitQueue
  readonly env: Env
  /** Bytes that the file may use. */
  readonly diskBytes: number
}

/** The removals of the one thread that writes. */
export class SpanRemoval {
  readonly #parts: SpanRemovalParts
  readonly #report: ReturnType<typeof throttleLog>
  #endTimer: () => void
  /** The project behind which the round goes on, and when the next round may begin. */
  #round = { after: 0, atMs: 0 }

  constructor(parts: SpanRemovalParts) {
    this.#parts = parts
    this.#report = throttleLog(parts.env, dayMs)
    this.#endTimer = parts.env.after(stepMs, () => void this.#step())
  }

  /** Nobody finds what is removed when it resolves. */
  async remove(tenant: string, what: Removal): Promise<void> {
    if (what.kind === 'traces') return this.#removeTraces(tenant, what.traces)
    const { numbers, hours, queue, env } = this.#parts
    const beforeUs = what.kind === 'older' ? what.beforeUs : Number.MAX_SAFE_INTEGER
    await queue.run(1, () => {
      const project = numbers.numberProject(numbers.numberTenant(tenant), what.project)
      numbers.endBefore(project, beforeUs)
      // The hour that is cut has fewer spans now.
      if (what.kind === 'older') hours.touch(project.no, beforeUs)
    })
    this.#round = { after: 0, atMs: env.monotonicMs() }
  }

  close(): void {
    this.#endTimer()
  }

  async #removeTraces(tenant: string, traces: readonly SpanPlace[]): Promise<void> {
    const { database, numbers, queue, env } = this.#parts
    const removed = await queue.run(traces.length, () => {
      const number = numbers.numberTenant(tenant)
      const put = database.prepare('INSERT OR REPLACE INTO gone_trace VALUES (?, ?, ?, 1)')
      return traces.map(({ project: id, trace }) => {
        const project = numbers.numberProject(number, id)
        put.run(bytesOfUuid(trace), project.no, env.nowMs() * 1000)
        return { project, trace }
      })
    })
    for (let at = 0; at < removed.length;) {
      const from = at
      at = await queue.run(stepOf, () => {
        let [next, left] = [from, stepOf]
        while (next < removed.length && left > 0) {
          const { project, trace } = removed[next]!
          const deleted = this.#deleteTrace(project, trace, left)
          if (deleted < left) next += 1
          left -= deleted + 1
        }
        return next
      })
    }
  }

  /** Deletes some of a trace, and notes it if that was all. */
  #deleteTrace(project: NumberedProject, trace: string, limit: number): number {
    const { database, deletion } = this.#parts
    const deleted = deletion.trace(project, trace, limit)
    if (deleted < limit) {
      database.prepare('UPDATE gone_trace SET pending = 0 WHERE project = ? AND trace = ?')
        .run(project.no, bytesOfUuid(trace))
    }
    return deleted
  }

  /** Does some work if it may, and comes again. */
  async #step(): Promise<void> {
    const { queue, env } = this.#parts
    let pauseMs = diskMs
    try {
      const isOver = this.#isOverDisk()
      const lateMs = env.monotonicMs() - this.#round.atMs
      const isDue = lateMs >= (queue.isIdle ? 0 : patienceMs)
      if (isOver || isDue) {
        await queue.run(stepOf, () => isOver ? this.#freeDisk() : this.#goOnRound())
        pauseMs = isOver || queue.isIdle ? stepMs : busyMs
      }
    } catch (error) {
      env.log.warn('Old traces cannot be removed right now.', { error })
      pauseMs = roundMs
    }
    if (!queue.isClosed) this.#endTimer = env.after(pauseMs, () => void this.#step())
  }

  #isOverDisk(): boolean {
    const { database, diskBytes } = this.#parts
    const pragma = (name: string) => database.prepare<[number]>(`PRAGMA ${name}`).get()![0]
    const bytes = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
    return bytes > diskBytes
  }

  #freeDisk(): void {
    const { numbers, deletion, env, diskBytes } = this.#parts
    const deleted = deletion.oldest(allProjects(numbers), stepOf) || deletion.oldestRest(stepOf)
    if (deleted === 0) return
    this.#report(() =>
      env.log.warn('The oldest traces are removed, because traces.db would be too large.', {
        diskBytes,
      })
    )
  }

  /** What a crash left of removed traces, then one project after the other. */
  #goOnRound(): void {
    const { database, numbers, feedback, env } = this.#parts
    const [no, trace] = database.prepare<[number, Uint8Array]>(
      'SELECT project, trace FROM gone_trace WHERE pending = 1 LIMIT 1',
    ).get() ?? []
    if (no !== undefined) {
      this.#deleteTrace(numbers.projectAt(no), uuidOfBytes(trace!), stepOf)
      return
    }
    const projects = numbers.projectsAfter(this.#round.after, projectsOf)
    let left = stepOf
    for (const project of projects) {
      left -= this.#expire(project, left)
      if (left === 0) return
      this.#round = { ...this.#round, after: project.no }
    }
    if (projects.length === projectsOf) return
    this.#round = { after: 0, atMs: env.monotonicMs() + roundMs }
    feedback.expireTokens(env.nowMs())
    database.prepare('DELETE FROM gone_trace WHERE pending = 0 AND at_us < ?')
      .run((env.nowMs() - goneMs) * 1000)
  }

  /** Deletes spans of a project that are removed or have lived long enough. */
  #expire(project: NumberedProject, limit: number): number {
    const { deletion, hours, feedback, env } = this.#parts
    const lifeEndUs = project.lifeS === null
      ? -Infinity
      : (env.nowMs() - project.lifeS * 1000) * 1000
    const beforeUs = Math.max(project.goneUs, lifeEndUs)
    const deleted = deletion.older(project, beforeUs, limit)
    if (deleted === limit) return deleted
    hours.deleteBefore(project.no, Math.floor(beforeUs / hourUs))
    if (project.goneUs === Number.MAX_SAFE_INTEGER) {
      feedback.deleteOfProject(project.tenant, project.id)
    }
    return deleted
  }
}

function* allProjects(numbers: Numbers): Iterable<NumberedProject> {
  let after = 0
  for (;;) {
    const projects = numbers.projectsAfter(after, projectsOf)
    yield* projects
    if (projects.length < projectsOf) return
    after = projects.at(-1)!.no
  }
}
