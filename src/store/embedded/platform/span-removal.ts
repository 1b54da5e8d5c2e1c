/**
 * Removes traces when asked; what has lived long enough, while little else is to be done; and what
 * has no room: of the tenant that has most, what arrived first.
 */

import { throttleLog } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { bytesOfUuid } from '../../../platform/index.ts'
import type { Removal, RemovalListener, RemovedSpans, SpanPlace,
  Uuid } from '../../../platform/index.ts'
import type { Database } from '../file/database.ts'
import { ownWork } from './commit-queue.ts'
import type { CommitQueue } from './commit-queue.ts'
import type { FeedbackRows } from '../span-rows/feedback-rows.ts'
import type { GoneRows } from '../span-rows/gone-rows.ts'
import type { HourRows } from '../span-rows/hour-rows.ts'
import type { NumberedProject, Numbers } from '../span-rows/numbers.ts'
import type { SpanDeletion } from './span-deletion.ts'
import type { SpanLives } from './span-lives.ts'
import type { SpanWriter } from './span-writer.ts'
import type { TenantUse } from '../span-rows/tenant-use.ts'

/** Spans that are deleted at a time, and in one statement; one takes about as long as a write. */
const [stepOf, deletedAtOnce] = [250, 50]
/** Milliseconds after which a step that frees room ends. */
const freeingMs = 10
/** Projects that are looked at in one turn. */
const projectsOf = 100
/** Time between steps, between looks at the disk, and between looks at all projects. */
const [stepMs, diskMs, roundMs] = [5, 1_000, 60_000]
/** Time for which writes that never pause go first, and time between steps among them. */
const [patienceMs, busyMs] = [10_000, 50]
const [minuteMs, dayMs] = [60_000, 86_400_000]
/** Time for which late operations on removed traces are rejected, and feedback waits. */
const goneMs = 400 * dayMs

/** Tenant that has to give room, and the reason. */
interface Crowded {
  readonly tenant: number
  readonly reason: 'disk' | 'tenant'
}

/** Connection, bounds and listener of a removal. */
export interface SpanRemovalParts {
  readonly database: Database
  readonly numbers: Numbers
  readonly hours: HourRows
  readonly feedback: FeedbackRows
  readonly gone: GoneRows
  readonly deletion: SpanDeletion
  readonly lives: SpanLives
  readonly writer: Pick<SpanWriter, 'mark'>
  readonly queue: CommitQueue
  readonly use: TenantUse
  /** Its clock must not jump ahead. */
  readonly env: Env
  /** Bytes that the file may use, and each tenant in it. */
  readonly diskBytes: number
  readonly tenantBytes: number
  readonly onRemoval: RemovalListener
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

  /** Resolves when no reader finds the removed spans any more. */
  async remove(tenant: string, what: Removal): Promise<void> {
    if (what.kind === 'traces') return this.#removeTraces(tenant, what.traces)
    if (what.kind === 'feedback') return this.#removeFeedback(tenant, what.spans)
    const { numbers, hours, queue, env } = this.#parts
    const beforeUs = what.kind === 'older' ? what.beforeUs : Number.MAX_SAFE_INTEGER
    await queue.run(tenant, 1, () => {
      const project = numbers.numberProject(numbers.numberTenant(tenant), what.project)
      numbers.endBefore(project, beforeUs)
      // The hour that is cut has fewer spans now.
      if (what.kind === 'older') hours.touch(project.no, beforeUs)
    })
    this.#round = { after: 0, atMs: env.monotonicMs() }
  }

  /** Changes the life of the spans of a project. Resolves when that is durable. */
  async changeLife(tenant: string, project: Uuid, lifeS: number): Promise<void> {
    const { numbers, lives, queue, env } = this.#parts
    await queue.run(tenant, 1, () => {
      lives.change(numbers.numberProject(numbers.numberTenant(tenant), project, lifeS), lifeS)
    })
    this.#round = { after: 0, atMs: env.monotonicMs() }
  }

  close(): void {
    this.#endTimer()
  }

  async #removeTraces(tenant: string, traces: readonly SpanPlace[]): Promise<void> {
    const { numbers, gone, feedback, queue, env } = this.#parts
    const removed = await queue.run(tenant, traces.length, () => {
      const number = numbers.numberTenant(tenant)
      return traces.map(({ project: id, trace }) => {
        const project = numbers.numberProject(number, id)
        gone.noteTrace(project, trace, env.nowMs() * 1_000)
        feedback.deleteWaiting(number, trace, id)
        return { project, trace }
      })
    })
    await this.#deleteTraces(tenant, removed)
  }

  async #removeFeedback(tenant: string, spans: readonly Uuid[]): Promise<void> {
    const { numbers, gone, feedback, writer, queue, env } = this.#parts
    await queue.run(tenant, spans.length, () => {
      const number = numbers.numberTenant(tenant)
      for (const span of spans) {
        const id = bytesOfUuid(span)
        gone.noteId(number, id, env.nowMs() * 1_000)
        feedback.deleteWaiting(number, span)
        writer.mark(number, span)
        feedback.deleteTokensOf(number, id)
      }
    })
  }

  async #deleteTraces(tenant: string,
    removed: readonly { readonly project: NumberedProject; readonly trace: Uuid }[]
  ): Promise<
    void
  > {
    const { queue } = this.#parts
    for (let at = 0; at < removed.length;) {
      const from = at
      at = await queue.run(tenant, stepOf, () => {
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
    const { gone, deletion } = this.#parts
    const deleted = deletion.trace(project, trace, limit)
    if (deleted < limit) gone.finishTrace(project, trace)
    return deleted
  }

  /** Does some work if it may, and comes again. */
  async #step(): Promise<void> {
    const { queue, env } = this.#parts
    let pauseMs = diskMs
    try {
      const crowded = this.#crowded()
      const lateMs = env.monotonicMs() - this.#round.atMs
      const isDue = lateMs >= (queue.isIdle ? 0 : patienceMs)
      if (crowded !== undefined || isDue) {
        await queue.run(ownWork, stepOf, () =>
          crowded === undefined ? this.#goOnRound() : this.#free(crowded))
        pauseMs = crowded !== undefined || queue.isIdle ? stepMs : busyMs
      }
    } catch (error) {
      env.log.warn('Old traces cannot be removed right now.', { error })
      pauseMs = roundMs
    }
    if (!queue.isClosed) this.#endTimer = env.after(pauseMs, () => void this.#step())
  }

  /** The tenant that has too much, or most of a file that is too large. */
  #crowded(): Crowded | undefined {
    const { use, tenantBytes } = this.#parts
    const above = use.largest(tenantBytes)
    if (above !== undefined) return { tenant: above, reason: 'tenant' }
    const tenant = this.#isOverDisk() ? use.largest(0) : undefined
    return tenant === undefined ? undefined : { tenant, reason: 'disk' }
  }

  #isOverDisk(): boolean {
    const { database, diskBytes } = this.#parts
    const pragma = (name: string) => database.prepare<[number]>(`PRAGMA ${name}`).get()![0]
    const bytes = (pragma('page_count') - pragma('freelist_count')) * pragma('page_size')
    return bytes > diskBytes
  }

  /** Removes what arrived first of a tenant, for some milliseconds or until it has room. */
  #free({ tenant, reason }: Crowded): void {
    const { deletion, use, env, tenantBytes } = this.#parts
    const beganMs = env.monotonicMs()
    const isCrowded = () => reason === 'disk' ? this.#isOverDisk() : use.of(tenant) > tenantBytes
    let [rows, spans, arrivedUs] = [0, 0, -Infinity]
    while (isCrowded() && rows < stepOf && env.monotonicMs() - beganMs < freeingMs) {
      const deleted = deletion.oldestOf(tenant, deletedAtOnce, () => !isCrowded())
      if (deleted === undefined) {
        use.clear(tenant)
        break
      }
      rows += deleted.rows
      spans += deleted.spans
      arrivedUs = Math.max(arrivedUs, deleted.arrivedUs)
    }
    if (spans > 0) use.noteFreed(tenant, Math.min(arrivedUs, env.nowMs() * 1_000))
    this.#note({ reason, spans })
    this.#report(() =>
      env.log.warn(reason === 'disk'
        ? 'Traces are removed, because traces.db would be too large.'
        : 'Traces of a tenant are removed, because it would have too many bytes.', {
        diskBytes: this.#parts.diskBytes,
        tenantBytes,
      })
    )
  }

  #note(removed: RemovedSpans): void {
    if (removed.spans > 0) this.#parts.onRemoval(removed)
  }

  /**
   * Deletes the rest of removed traces after a crash, writes new ends of life, and deletes what has
   * reached its own. Then it visits one project after the other.
   */
  #goOnRound(): void {
    const { numbers, feedback, gone, deletion, lives, env } = this.#parts
    const pending = gone.firstPending()
    if (pending !== undefined) {
      this.#deleteTrace(numbers.projectAt(pending.project), pending.trace, stepOf)
      return
    }
    // No span is deleted by an end that it had before a change.
    if (lives.rewriteSome(stepOf)) return
    const expired = deletion.expired(Math.floor(env.nowMs() / minuteMs), stepOf)
    this.#note({ reason: 'age', spans: expired })
    if (expired > 0) return
    const projects = numbers.projectsAfter(this.#round.after, projectsOf)
    for (const project of projects) {
      // There may be more of it.
      if (this.#deleteRemoved(project, stepOf) > 0) return
      this.#round = { ...this.#round, after: project.no }
    }
    if (projects.length === projectsOf) return
    const lateUs = (env.nowMs() - goneMs) * 1_000
    if (gone.expire(lateUs, stepOf) + feedback.expireWaiting(lateUs, stepOf) > 0) return
    this.#round = { after: 0, atMs: env.monotonicMs() + roundMs }
    feedback.expireTokens(env.nowMs())
  }

  /** Deletes spans and feedback of a project that are removed. */
  #deleteRemoved(project: NumberedProject, limit: number): number {
    const { deletion, feedback, writer } = this.#parts
    const removed = deletion.older(project, project.goneUs, limit)
    if (removed === limit || project.goneUs < Number.MAX_SAFE_INTEGER) return removed
    const spans = feedback.deleteOfProject(project.tenant, project.id, limit - removed)
    // Other projects may have these spans, with its marks.
    for (const span of new Set(spans)) if (span !== null) writer.mark(project.tenant, span)
    return removed + spans.length
  }
}
