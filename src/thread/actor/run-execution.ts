/** One execution of a run: what it is started with, and the log rows and events of its steps. */

import { untilAvailable } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf, StoredTuple } from '../../checkpoint/index.ts'
import type { StepBatch, StepEvent } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { FeedEntry } from '../feed/event-stream.ts'
import { ReorderBuffer } from '../feed/reorder-buffer.ts'
import { executionSource } from '../log/execution-source.ts'
import type { EventPlace } from '../model/event-position.ts'
import { planOf, runRequest } from '../model/run-request.ts'
import type { ResumePoint } from '../model/run-request.ts'
import { executionListener, stepRecords } from './execution-listener.ts'
import type { RunFeeds } from './run-feeds.ts'

export interface Appended {
  readonly appended: Promise<void>
}

/**
 * How long readers may hold up a run that sends more than they take: two seconds, and beyond that
 * only as long as a line of 100 Mbit/s needs.
 */
const patience = { ms: 2_000, charactersPerMs: 10_000 } as const

export class RunExecution {
  readonly id: number
  readonly run: RunRow
  readonly #context: ThreadContext
  readonly #feeds: RunFeeds
  #stopLimit: (() => void) | undefined
  #begun = false
  #closed = false
  readonly #ended = Promise.withResolvers<void>()
  /** The place of the last event: the next one behind the same row gets the next number. */
  #last: EventPlace
  readonly #reorder = new ReorderBuffer()
  /** What is left of the patience with readers. */
  #patienceMs: number = patience.ms

  constructor(context: ThreadContext, feeds: RunFeeds, run: RunRow) {
    this.id = context.ports.nextExecutionId()
    this.run = run
    this.#context = context
    this.#feeds = feeds
    this.#last = { seq: context.threadLog.position.seq, index: 0 }
  }

  /** A suspect has a process of its own. */
  get isApart(): boolean {
    return this.run.suspect
  }
  /** It was handed to the graph host. */
  get begun(): boolean {
    return this.#begun
  }
  /** Resolves when nothing more is expected of it. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Begins when the attempt is in the log; reads what it needs meanwhile. */
  async beginWhenRead(resumePoint: () => Promise<ResumePoint>): Promise<void> {
    const { ports: { env }, threadLog, threadId, notify } = this.#context
    // The time limit counts from here: reads are repeated, and may never succeed.
    this.#limit(planOf(this.run).timeoutMs)
    try {
      const [found, head] = await this.#steadily(() =>
        Promise.all([resumePoint(), threadLog.loadHead(), threadLog.logged])
      )
      if (!this.#closed) this.begin(found, head)
    } catch (error) {
      if (this.#closed) return
      const { runId } = this.run
      env.log.warn('A run could not be started.', { error, threadId, runId })
      notify({ type: 'lost', executionId: this.id, reason: 'crashed' })
    }
  }

  /** Hands the run to the graph host. `head`: the thread's head, if it was just read. */
  begin(resumePoint: ResumePoint, head?: StoredTuple): void {
    this.#begun = true
    const { ports: { host }, threadLog, tenant, threadId } = this.#context
    const { run, id } = this
    const plan = planOf(run)
    this.#limit(plan.timeoutMs)
    host.execute({
      id,
      tenant,
      threadId,
      graphId: plan.graphId,
      runId: run.runId,
      attempt: run.attempt,
      headId: threadLog.state.row.head?.id ?? null,
      ...plan.trace !== undefined && { trace: plan.trace },
      ...this.isApart && { apart: true },
      request: runRequest(run, plan, resumePoint),
    }, executionSource(threadLog, { head, steadily: (read) => this.#steadily(read) }),
      executionListener(id, this.#context))
  }

  /** Nothing more is expected of it. Withheld events that have their data are still sent. */
  close(): void {
    this.#closed = true
    const left = this.#reorder.release()
    if (left.length > 0) this.#feeds.publish(this.run.runId, this.#context.threadLog.durable, left)
    this.#stopLimit?.()
    this.#ended.resolve()
  }

  /**
   * The turn ends when the batch is in the state; `appended` resolves when it is on disk and, if it
   * is `awaited`, with all followers. At once if possible, so that a batch and the run's end behind
   * it go into one row.
   */
  steps(batch: StepBatch): Appended | Promise<Appended> {
    const ready = this.#context.threadLog.ready(batch.steps)
    return ready ? ready.then(() => this.#write(batch)) : this.#write(batch)
  }

  #limit(ms: number): void {
    const { ports: { env }, notify } = this.#context
    this.#stopLimit ??= env.after(ms, () => notify({ type: 'time_limit', executionId: this.id }))
  }

  #steadily<Result>(read: () => Promise<Result>): Promise<Result> {
    const { ports: { env }, threadId } = this.#context
    const { runId } = this.run
    // While the store is away the run waits, as its appends do, instead of using up attempts.
    return untilAvailable({
      env,
      hasEnded: () => this.#closed,
      waits: (error) => env.log.warn('A run waits for the store.', { error, threadId, runId }),
    }, read)
  }

  #write({ steps, events, texts = [], awaited }: StepBatch): Appended {
    const { threadLog, ports: { env } } = this.#context
    const records = stepRecords(steps, this.run.runId, env.nowMs())
    const durableEvents = events.some(({ durable }) => durable)
    const entries = this.#entries(events, steps.length > 0 || durableEvents)
    if (durableEvents) records.push(this.#emitted(events, entries))
    const appended = records.length > 0 ? threadLog.write(records) : threadLog.durable
    const { runId } = this.run
    const emitted = this.#reorder.next(entries, texts)
    this.#feeds.publish(runId, appended, emitted)
    return { appended: awaited ? appended.then(() => this.#letRead(emitted)) : appended }
  }

  async #letRead(emitted: readonly FeedEntry[]): Promise<void> {
    const { env } = this.#context.ports
    const gainMs = charactersOf(emitted) / patience.charactersPerMs
    const leftMs = Math.min(patience.ms, this.#patienceMs + gainMs)
    const beganMs = env.monotonicMs()
    if (leftMs >= 1) await this.#feeds.taken(this.run.runId, leftMs)
    this.#patienceMs = Math.max(0, leftMs - (env.monotonicMs() - beganMs))
  }

  /** Events of a batch that adds to the log stand behind its row, others behind the last one. */
  #entries(events: readonly StepEvent[], adds: boolean): FeedEntry[] {
    const { seq } = this.#context.threadLog.position
    if (adds && seq !== this.#last.seq) this.#last = { seq, index: 0 }
    return events.map(({ name, json, valuesOf }) => {
      this.#last = { ...this.#last, index: this.#last.index + 1 }
      return { place: this.#last, name, json: valuesOf === '' ? json : undefined, valuesOf }
    })
  }

  #emitted(events: readonly StepEvent[], entries: readonly FeedEntry[]): RecordOf {
    const emitted = events.flatMap(({ name, json, valuesOf, durable }, i) =>
      durable ? [{ index: entries[i]!.place.index, name, json, valuesOf }] : []
    )
    return { $case: 'emitted', value: { runId: this.run.runId, events: emitted } }
  }
}

function charactersOf(entries: readonly FeedEntry[]): number {
  return entries.reduce((sum, { json }) => sum + (json?.length ?? 0), 0)
}
