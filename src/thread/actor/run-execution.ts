/** One execution of a run: what it is started with, and the log rows and events of its steps. */

import { untilAvailable } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf, StoredTuple } from '../../checkpoint/index.ts'
import type { StepBatch, StepEvent } from '../../graph/index.ts'
import type { ThreadSetting } from '../context/thread-context.ts'
import type { FeedEntry } from '../feed/event-stream.ts'
import { WithheldEvents } from '../feed/reorder-buffer.ts'
import { executionSource } from '../log/execution-source.ts'
import type { EventPlace } from '../model/event-position.ts'
import { planOf, runRequest } from '../model/run-request.ts'
import type { Trail } from '../model/run-request.ts'
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
  readonly #setting: ThreadSetting
  readonly #feeds: RunFeeds
  #stopLimit: (() => void) | undefined
  #begun = false
  #closed = false
  readonly #over = Promise.withResolvers<void>()
  /** The place of the last event: the next one behind the same row gets the next number. */
  #last: EventPlace
  readonly #withheld = new WithheldEvents()
  /** What is left of the patience with readers. */
  #patienceMs: number = patience.ms

  constructor(setting: ThreadSetting, feeds: RunFeeds, run: RunRow) {
    this.id = setting.ports.nextExecutionId()
    this.run = run
    this.#setting = setting
    this.#feeds = feeds
    this.#last = { seq: setting.ledger.position.seq, index: 0 }
  }

  /** A suspect has a process of its own. */
  get isApart(): boolean { return this.run.suspect }
  /** It was handed to the graph host. */
  get begun(): boolean { return this.#begun }
  /** Resolves when nothing more is expected of it. */
  get over(): Promise<void> { return this.#over.promise }

  /** Begins when the attempt is in the log; reads what it needs meanwhile. */
  async beginWhenRead(trail: () => Promise<Trail>): Promise<void> {
    const { ports: { env }, ledger, threadId, tell } = this.#setting
    // The time limit counts from here: reads are repeated, and may never succeed.
    this.#limit(planOf(this.run).timeoutMs)
    try {
      const [found, head] = await this.#steadily(() =>
        Promise.all([trail(), ledger.loadHead(), ledger.logged]))
      if (!this.#closed) this.begin(found, head)
    } catch (error) {
      if (this.#closed) return
      const { runId } = this.run
      env.log.warn('A run could not be started.', { error, threadId, runId })
      tell({ type: 'lost', executionId: this.id, reason: 'crashed' })
    }
  }

  /** Hands the run to the graph host. `head`: the thread's head, if it was just read. */
  begin(trail: Trail, head?: StoredTuple): void {
    this.#begun = true
    const { ports: { host }, ledger, tenant, threadId } = this.#setting
    const { run, id } = this
    const plan = planOf(run)
    this.#limit(plan.timeoutMs)
    host.execute({
      id, tenant, threadId, graphId: plan.graphId, runId: run.runId,
      attempt: run.attempt, headId: ledger.state.row.head?.id ?? null,
      ...plan.trace !== undefined && { trace: plan.trace },
      ...this.isApart && { apart: true },
      request: runRequest(run, plan, trail),
    }, executionSource(ledger, { head, steadily: (read) => this.#steadily(read) }),
    executionListener(id, this.#setting))
  }

  /** Nothing more is expected of it. Withheld events that have their data are still sent. */
  close(): void {
    this.#closed = true
    const left = this.#withheld.letGo()
    if (left.length > 0) this.#feeds.publish(this.run.runId, this.#setting.ledger.durable, left)
    this.#stopLimit?.()
    this.#over.resolve()
  }

  /**
   * The turn ends when the batch is in the state; `appended` resolves when it is on disk and, if it
   * is `awaited`, with all followers. At once if possible, so that a batch and the run's end behind
   * it go into one row.
   */
  steps(batch: StepBatch): Appended | Promise<Appended> {
    const ready = this.#setting.ledger.ready(batch.steps)
    return ready ? ready.then(() => this.#write(batch)) : this.#write(batch)
  }

  #limit(ms: number): void {
    const { ports: { env }, tell } = this.#setting
    this.#stopLimit ??= env.after(ms, () =>
      tell({ type: 'time_limit', executionId: this.id }))
  }

  #steadily<Result>(read: () => Promise<Result>): Promise<Result> {
    const { ports: { env }, threadId } = this.#setting
    const { runId } = this.run
    // While the store is away the run waits, as its appends do, instead of using up attempts.
    return untilAvailable({
      env, isOver: () => this.#closed,
      waits: (error) => env.log.warn('A run waits for the store.', { error, threadId, runId }),
    }, read)
  }

  #write({ steps, events, texts = [], awaited }: StepBatch): Appended {
    const { ledger, ports: { env } } = this.#setting
    const records = stepRecords(steps, this.run.runId, env.nowMs())
    const durableEvents = events.some(({ durable }) => durable)
    const entries = this.#entries(events, steps.length > 0 || durableEvents)
    if (durableEvents) records.push(this.#told(events, entries))
    const appended = records.length > 0 ? ledger.write(records) : ledger.durable
    const { runId } = this.run
    const told = this.#withheld.next(entries, texts)
    this.#feeds.publish(runId, appended, told)
    return { appended: awaited ? appended.then(() => this.#letRead(told)) : appended }
  }

  async #letRead(told: readonly FeedEntry[]): Promise<void> {
    const { env } = this.#setting.ports
    const gainMs = charactersOf(told) / patience.charactersPerMs
    const leftMs = Math.min(patience.ms, this.#patienceMs + gainMs)
    const beganMs = env.monotonicMs()
    if (leftMs >= 1) await this.#feeds.taken(this.run.runId, leftMs)
    this.#patienceMs = Math.max(0, leftMs - (env.monotonicMs() - beganMs))
  }

  /** Events of a batch that adds to the log stand behind its row, others behind the last one. */
  #entries(events: readonly StepEvent[], adds: boolean): FeedEntry[] {
    const { seq } = this.#setting.ledger.position
    if (adds && seq !== this.#last.seq) this.#last = { seq, index: 0 }
    return events.map(({ name, json, valuesOf }) => {
      this.#last = { ...this.#last, index: this.#last.index + 1 }
      return { place: this.#last, name, json: valuesOf === '' ? json : undefined, valuesOf }
    })
  }

  #told(events: readonly StepEvent[], entries: readonly FeedEntry[]): RecordOf {
    const told = events.flatMap(({ name, json, valuesOf, durable }, i) =>
      durable ? [{ index: entries[i]!.place.index, name, json, valuesOf }] : [])
    return { $case: 'told', value: { runId: this.run.runId, events: told } }
  }
}

function charactersOf(entries: readonly FeedEntry[]): number {
  return entries.reduce((sum, { json }) => sum + (json?.length ?? 0), 0)
}
