/** What an execution sends: log rows of its steps, and events behind them for its followers. */

import type { StepBatch } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { decideSteps } from '../decide/steps.ts'
import type { FeedEntry } from '../model/feed-entry.ts'
import { ReorderBuffer } from '../feed/reorder-buffer.ts'
import type { EventPlace } from '../model/event-position.ts'
import type { RunFeeds } from './run-feeds.ts'

/** A batch that is in the state; `appended` resolves when it is on disk. */
export interface Appended {
  readonly appended: Promise<void>
}

/**
 * How long readers may hold up a run that sends more than they take: two seconds, and beyond that
 * only as long as a line of 100 Mbit/s needs.
 */
const patience = { ms: 2_000, charactersPerMs: 10_000 } as const

/** The output of one execution. */
export class RunOutput {
  readonly #runId: string
  readonly #context: ThreadContext
  readonly #feeds: RunFeeds
  /** The place of the last event: the next one behind the same row gets the next number. */
  #last: EventPlace
  readonly #reorder = new ReorderBuffer()
  /** Resolves when the last batch is on disk. */
  #appended: Promise<void> = Promise.resolve()
  /** What is left of the patience with readers. */
  #patienceMs: number = patience.ms

  constructor(context: ThreadContext, feeds: RunFeeds, runId: string) {
    this.#runId = runId
    this.#context = context
    this.#feeds = feeds
    this.#last = { seq: context.threadLog.position.seq, index: 0 }
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

  /** Sends what is left in the reorder buffer and has its data, once its own batch is on disk. */
  close(): void {
    const left = this.#reorder.release()
    if (left.length > 0) this.#feeds.publish(this.#runId, this.#appended, left)
  }

  #write({ steps, events, texts = [], awaited }: StepBatch): Appended {
    const { threadLog, ports: { env } } = this.#context
    const place = { runId: this.#runId, seq: threadLog.position.seq, last: this.#last }
    const { records, entries, last } = decideSteps({ steps, events }, place, env.nowMs())
    this.#last = last
    const appended = records.length > 0 ? threadLog.write(records) : threadLog.durable
    this.#appended = appended
    const emitted = this.#reorder.next(entries, texts)
    this.#feeds.publish(this.#runId, appended, emitted)
    return { appended: awaited ? appended.then(() => this.#letRead(emitted)) : appended }
  }

  async #letRead(emitted: readonly FeedEntry[]): Promise<void> {
    const { env } = this.#context.ports
    const gainMs = charactersOf(emitted) / patience.charactersPerMs
    const leftMs = Math.min(patience.ms, this.#patienceMs + gainMs)
    const beganMs = env.monotonicMs()
    if (leftMs >= 1) await this.#feeds.taken(this.#runId, leftMs)
    this.#patienceMs = Math.max(0, leftMs - (env.monotonicMs() - beganMs))
  }
}

function charactersOf(entries: readonly FeedEntry[]): number {
  return entries.reduce((sum, { json }) => sum + (json?.length ?? 0), 0)
}
