/** Output of an execution: log rows of its steps, and events behind them for its followers. */

import type { RecordOf } from '../../checkpoint/index.ts'
import { isThreadEvent } from '../../graph/index.ts'
import type { Step, StepBatch, StepEvent } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { decideSteps } from '../decide/steps.ts'
import { isLateForThread, splitEvents, threadEventsRecord } from '../decide/thread-events.ts'
import type { FeedEntry } from '../model/feed-entry.ts'
import { ReorderBuffer } from '../feed/reorder-buffer.ts'
import { start } from '../model/event-position.ts'
import type { EventPlace } from '../model/event-position.ts'
import { nameOfMade } from '../model/thread-event-head.ts'
import type { RunFeeds } from './run-feeds.ts'
import type { ThreadFeed } from './thread-feed.ts'

/** A batch that is in the state; `appended` resolves when it is on disk. */
export interface Appended {
  readonly appended: Promise<void>
}

/**
 * Notifies an execution when its batch is on disk. Undefined if the turn need not wait. Rejects if
 * the batch cannot be written: the log lacks it, so no later one may be written.
 */
export function notifyAppended(written: Appended | Promise<Appended>,
  done: (appended: Promise<void>) => void, { fail }: Pick<ThreadContext, 'fail'>
):
  | Promise<void>
  | undefined {
  const notify = (appended: Promise<void>) => {
    appended.catch(() => {})
    done(appended)
  }
  if (!(written instanceof Promise)) return void notify(written.appended)
  return written.then(({ appended }) => notify(appended), (error: unknown) => {
    fail(error)
    notify(Promise.reject(error))
    throw error
  })
}

/**
 * Time for which readers may hold up a run that sends more than they take: two seconds, and beyond
 * that only as long as a line of 100 Mbit/s needs.
 */
const patience = { ms: 2_000, charactersPerMs: 10_000 } as const

/** Feeds that get the events of an execution. */
export interface OutputFeeds {
  readonly feeds: RunFeeds
  /** Undefined if the execution makes no events of its thread. */
  readonly threadFeed: ThreadFeed | undefined
}

/** The output of one execution. */
export class RunOutput {
  readonly #runId: string
  readonly #context: ThreadContext
  readonly #feeds: RunFeeds
  /** Gets the events of the thread; undefined if the execution makes none. */
  readonly #threadFeed: ThreadFeed | undefined
  /** The place of the last event: the next one behind the same row gets the next number. */
  #last: EventPlace
  readonly #reorder = new ReorderBuffer()
  /** Resolves when the last batch is on disk. */
  #appended: Promise<void> = Promise.resolve()
  /** Rest of the patience with readers, in milliseconds. */
  #patienceMs: number = patience.ms

  constructor(context: ThreadContext, { feeds, threadFeed }: OutputFeeds, runId: string) {
    this.#runId = runId
    this.#context = context
    this.#feeds = feeds
    this.#threadFeed = threadFeed
    this.#last = { seq: context.threadLog.position.seq, index: 0 }
  }

  /**
   * The turn ends when the batch is in the state; `appended` resolves when it is on disk and, if it
   * is `awaited`, with all followers. At once if possible, so that a batch and the run's end behind
   * it go into one row.
   */
  steps(batch: StepBatch): Appended | Promise<Appended> {
    const { threadLog } = this.#context
    // Others may see what an effect does: the run is on disk before.
    if (threadLog.isHeldBack && batch.steps.some(isEffect)) threadLog.keep().catch(() => {})
    const ready = threadLog.ready(batch.steps)
    return ready ? ready.then(() => this.#write(batch)) : this.#write(batch)
  }

  /** Sends what is left in the reorder buffer and has its data, once its own batch is on disk. */
  close(): void {
    const left = this.#reorder.release()
    const shown = left.filter(({ name }) => !isThreadEvent(name))
    if (shown.length > 0) this.#feeds.publish(this.#runId, this.#appended, shown)
  }

  #write(batch: StepBatch): Appended {
    if (this.#threadFeed) return this.#writeForThread(batch, this.#threadFeed)
    const { steps, events, texts = [], awaited } = batch
    const { threadLog } = this.#context
    const place = { runId: this.#runId, seq: threadLog.position.seq, last: this.#last }
    const { records, entries, last } = decideSteps({ steps, events }, place, this.#nowMs())
    this.#last = last
    const appended = records.length > 0 ? threadLog.write(records) : this.#written
    this.#appended = appended
    const emitted = this.#reorder.next(entries, texts)
    this.#feeds.publish(this.#runId, appended, emitted)
    return { appended: awaited ? appended.then(() => this.#letRead(emitted)) : appended }
  }

  /** As `#write`, with events of the thread among the others. */
  #writeForThread({ steps, events, texts = [], awaited }: StepBatch, feed: ThreadFeed): Appended {
    const { threadLog } = this.#context
    const place = { runId: this.#runId, seq: threadLog.position.seq, last: this.#last }
    const { ofRun, ofThread } = splitEvents(events)
    const atMs = this.#nowMs()
    const { records, entries, last } = decideSteps({ steps, events: ofRun }, place, atMs)
    this.#last = last
    const appended = this.#appendForThread(records, ofThread, atMs, feed)
    this.#appended = appended
    const emitted = this.#reorder.next(inOrder(events, entries), texts)
    this.#passOn(emitted.filter(({ name }) => isThreadEvent(name)), atMs)
    const shown = emitted.filter(({ name }) => !isThreadEvent(name))
    this.#feeds.publish(this.#runId, appended, shown)
    return { appended: awaited ? appended.then(() => this.#letRead(emitted)) : appended }
  }

  #appendForThread(records: readonly RecordOf[], events: readonly StepEvent[], atMs: number,
    feed: ThreadFeed): Promise<void> {
    const { threadLog } = this.#context
    if (records.length === 0) {
      this.#passOn(events, atMs)
      return this.#written
    }
    if (events.length === 0) return threadLog.write(records)
    const { record, passing } = threadEventsRecord(events, this.#runId, atMs)
    return feed.writeWith(passing, () => threadLog.write([...records, record]))
  }

  /** Resolves when what was written so far is on disk, unless that is kept back. */
  get #written(): Promise<void> {
    const { threadLog } = this.#context
    return threadLog.isHeldBack ? Promise.resolve() : threadLog.durable
  }

  /** Not before the states and runs in the log, whatever the clock says. */
  #nowMs(): number {
    const { threadLog: { state: { row } }, ports: { env } } = this.#context
    return Math.max(env.nowMs(), row.updatedAtMs, row.stateUpdatedAtMs)
  }

  #passOn(events: readonly Pick<FeedEntry, 'name' | 'json'>[], atMs: number): void {
    this.#threadFeed?.publishBehind(
      events.map(({ name, json }) => ({ json, name: nameOfMade(name, this.#runId, atMs) })),
    )
  }

  async #letRead(emitted: readonly FeedEntry[]): Promise<void> {
    const { env } = this.#context.ports
    const gainMs = charactersOf(emitted) / patience.charactersPerMs
    const leftMs = Math.min(patience.ms, this.#patienceMs + gainMs)
    const beganMs = env.monotonicMs()
    if (leftMs >= 1) {
      await Promise.all([this.#feeds.taken(this.#runId, leftMs), this.#threadFeed?.taken(leftMs)])
    }
    this.#patienceMs = Math.max(0, leftMs - (env.monotonicMs() - beganMs))
  }
}

/** The run's entries, and the events of the thread whose data comes later, in their order. */
function inOrder(events: readonly StepEvent[], entries: readonly FeedEntry[]): FeedEntry[] {
  let next = 0
  return events.flatMap((event) => {
    if (isLateForThread(event)) return [{ place: start, name: event.name, json: '', valuesOf: '' }]
    return isThreadEvent(event.name) ? [] : [entries[next++]!]
  })
}

function charactersOf(entries: readonly FeedEntry[]): number {
  return entries.reduce((sum, { json }) => sum + (json?.length ?? 0), 0)
}

function isEffect(step: Step): boolean {
  return step.$case === 'writes' && step.value.effect !== undefined
}
