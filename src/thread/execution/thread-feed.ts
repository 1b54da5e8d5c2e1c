/** The events of a thread as a whole: of all its runs, for as long as any client follows. */

import { decodeRow, rowsOf } from '../../checkpoint/index.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import { atLatest } from '../../../cluster/index.ts'
import { ignoreNotFound } from '../../errors.ts'
import { graphIn, graphOf, presentHost } from '../context/thread-graphs.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { PassingEvent } from '../decide/thread-events.ts'
import { EventStream } from '../feed/event-stream.ts'
import type { FeedPast } from '../feed/event-stream.ts'
import { withoutOldEnds } from '../feed/old-ends.ts'
import type { LogWatcher } from '../log/thread-log-options.ts'
import { fromOwnRun, isAfter, placeOf } from '../model/event-position.ts'
import type { EventPlace } from '../model/event-position.ts'
import type { FeedEntry } from '../model/feed-entry.ts'
import { stateOf, ThreadEventFold } from '../model/thread-event-fold.ts'
import type { NamedState, RunOfEvents } from '../model/thread-event-fold.ts'
import { firstTailSlot, lastTailSlot } from '../model/thread-event.ts'
import type { FeedListener } from '../model/thread-client.ts'
import { valuesAt, valuesAtEnd } from '../queries/state-values.ts'

/** Tokens are remembered here only: a reader that comes late gets those of a long answer too. */
const bound = { events: 32_000, bytes: 4 * 1024 * 1024 } as const

/**
 * Characters of an event about a task that are remembered. It has the task's whole input or result:
 * those of large states would take the place of many tokens.
 */
const taskCharacters = 4_096

function isKept({ name, json = '' }: FeedEntry): boolean {
  return json.length <= taskCharacters || !name.startsWith('tasks|')
}

/**
 * Feed of a thread that is closed until a client follows or a run wants events of the thread. Then
 * it watches the log: events that records stand for are the same when they are read from the log
 * later.
 */
export class ThreadFeed implements LogWatcher {
  readonly #context: ThreadContext
  #stream: EventStream | undefined
  #fold = new ThreadEventFold([], false)
  /** Events that are published between those of the records that are written next. */
  #passing: readonly PassingEvent[] = []
  /** The place of the last event that no record stands for. */
  #tail: EventPlace = { seq: 0, index: 0 }

  constructor(context: ThreadContext) {
    this.#context = context
  }

  get isOpen(): boolean {
    return this.#stream !== undefined
  }
  get followed(): boolean {
    return this.#stream?.followed ?? false
  }

  /**
   * A run begins: opens the feed if the run wants events of the thread; closes it if no client
   * follows either.
   */
  prepare(isWanted: boolean): void {
    if (isWanted) this.#stream ??= this.#opened()
    else if (!this.followed) this.#close()
  }

  /** Resolves when all followers have taken what was published, after `ms` at the latest. */
  async taken(ms: number): Promise<void> {
    const taken = this.#stream?.taken()
    if (taken) await atLatest(this.#context.ports.env, ms, taken)
  }

  /** Lends the memory of the remembered events: it is given back when others need it. */
  lendMemory(): void {
    const stream = this.#stream
    if (!stream) return
    const { feeds } = this.#context.ports
    feeds.hold(stream, stream.bytes + 1_024, () => {
      if (this.#stream !== stream) return
      if (stream.followed) stream.forget()
      else this.#close()
    })
  }

  written(records: readonly RecordOf[], seq: number, durable: Promise<void>): void {
    try {
      this.#take(records, seq, durable)
    } catch (error) {
      // The records are written: what they decide must not fail because of followers.
      const { ports: { env }, threadId } = this.#context
      env.log.error('The events of a thread could not be made.', { error, threadId })
      this.lose()
    }
  }

  /** Calls `write`, whose last record has places for these events. */
  writeWith(passing: readonly PassingEvent[], write: () => Promise<void>): Promise<void> {
    this.#passing = passing
    try {
      return write()
    } finally {
      this.#passing = []
    }
  }

  /** Places in the new log begin anew. */
  begun(): void {
    this.#fold = new ThreadEventFold([], false)
    this.#tail = { seq: 0, index: 0 }
    this.#stream?.restart()
  }

  /** Events behind all that was written. They are published when that is on disk. */
  publishBehind(events: readonly Pick<FeedEntry, 'name' | 'json'>[]): void {
    if (!this.#stream || events.length === 0) return
    const { threadLog } = this.#context
    threadLog.seal()
    const entries = events.flatMap((event) => {
      const place = this.#next(threadLog.position.seq - 1)
      return place ? [{ ...event, place, valuesOf: '' } as FeedEntry] : []
    })
    this.#publish(entries, threadLog.durable)
  }

  /** Sends the listener what comes after a place. The result stops that. */
  follow(after: string | null, listener: FeedListener): () => void {
    const stream = this.#stream ??= this.#opened()
    const { threadLog: { state }, ports: { env } } = this.#context
    const passed = after === fromOwnRun
      ? withoutOldEnds(state.runs, env.nowMs(), listener)
      : listener
    const stop = stream.follow(this.#retainedAfter(placeOf(after)), null, passed, this.#past)
    return () => {
      stop()
      if (this.#stream === stream && !stream.followed) this.lendMemory()
    }
  }

  /** The thread was deleted: its followers get the end when `durable` resolves. */
  end(durable: Promise<void>): void {
    const stream = this.#close()
    if (stream) durable.then(() => stream.end(), () => stream.lose())
  }

  lose(): void {
    this.#close()?.lose()
  }

  #take(records: readonly RecordOf[], seq: number, durable: Promise<void>): void {
    const entries = this.#fold.take(records, seq)
    for (const { name, json, fromEnd } of this.#passing) {
      entries.push({ place: { seq, index: this.#fold.slot - fromEnd }, name, json, valuesOf: '' })
    }
    if (this.#passing.length > 0) entries.sort((a, b) => a.place.index - b.place.index)
    // Reading `durable` hurries the write: followers wait for it.
    if (entries.length > 0 && this.followed) void this.#context.threadLog.durable
    this.#publish(entries, durable)
  }

  /** The same place, or one just before what is retained. */
  #retainedAfter(after: EventPlace): EventPlace {
    const first = this.#fold.retained
    if (!first) return after
    const before = { ...first, index: first.index - 1 }
    return isAfter(before, after) ? before : after
  }

  #opened(): EventStream {
    const { threadLog } = this.#context
    const { runs, row } = threadLog.state
    this.#fold = new ThreadEventFold(runs, row.eventsFrom !== undefined)
    // What waits to be written was not watched: it is read from the log, as all before it.
    this.#fold.take(threadLog.waiting, threadLog.position.seq)
    threadLog.watcher = this
    return new EventStream({ graphId: '', endSeen: () => {}, bound, isKept,
      forgotten: this.#last() })
  }

  #close(): EventStream | undefined {
    const stream = this.#stream
    if (!stream) return undefined
    this.#stream = undefined
    this.#context.threadLog.watcher = undefined
    this.#context.ports.feeds.release(stream)
    return stream
  }

  /** The last place that was given to an event. */
  #last(): EventPlace {
    const { position: { seq }, waiting } = this.#context.threadLog
    if (waiting.length > 0) return { seq, index: this.#fold.slot - 1 }
    if (this.#tail.seq === seq - 1) return this.#tail
    return { seq: seq - 1, index: firstTailSlot - 1 }
  }

  #next(seq: number): EventPlace | undefined {
    const index = this.#tail.seq === seq ? this.#tail.index + 1 : firstTailSlot
    if (index > lastTailSlot) return undefined
    return this.#tail = { seq, index }
  }

  #publish(entries: readonly FeedEntry[], durable: Promise<void>): void {
    const stream = this.#stream
    if (!stream || entries.length === 0) return
    durable.then(() => {
      stream.publish(stream.followed ? entries.map((entry) => this.#withValues(entry)) : entries)
    }, () => {})
  }

  #graphOf(graphId: string) {
    const known = graphId === '' ? undefined : graphIn(presentHost(this.#context), graphId)
    return known ?? graphOf(this.#context)
  }

  /** Adds the values of a state to an event, if they are remembered and need not be worked out. */
  #withValues(entry: FeedEntry): FeedEntry {
    if (entry.json !== undefined) return entry
    const { checkpointId, graphId, endedRunId } = stateOf(entry.valuesOf)
    if (endedRunId !== '') return entry
    const graph = this.#graphOf(graphId)?.graph
    const view = this.#context.threadLog.recentView(checkpointId)
    if (!view || !graph?.plain || graph.stateChannels === null) return entry
    try {
      return { ...entry, json: view.json(graph.stateChannels) }
    } catch {
      // Longer than a string may be: followers cannot read it either, and end as `unread`.
      return entry
    }
  }

  readonly #past: FeedPast = {
    read: (after, through) => this.#read(after, through),
    values: (name) => this.#values(stateOf(name)).catch(ignoreNotFound),
  }

  async #values({ checkpointId, graphId, endedRunId }: NamedState): Promise<JsonText> {
    const { ports: { runs }, tenant, threadId } = this.#context
    const run = endedRunId === '' ? undefined : await runs.get(tenant, threadId, endedRunId)
    return run
      ? valuesAtEnd(this.#context, run)
      : valuesAt(this.#context, this.#graphOf(graphId), { checkpointId })
  }

  /** Events of the runs under way, of those that wait, and of the last finished one. */
  async *#read(after: EventPlace, through: EventPlace): AsyncGenerator<FeedEntry> {
    const { threadLog, ports: { log } } = this.#context
    const { row, runs, exists } = threadLog.state
    const first = row.eventsFrom !== undefined
      ? { runId: row.lastRunId ?? '', firstSeq: row.eventsFrom }
      : runs.find(({ started }) => started)
    if (!exists || first === undefined) return
    await threadLog.durable
    const fold = new ThreadEventFold([...runs, ...await this.#finished(first.runId)], true)
    const range = { from: Math.max(first.firstSeq, after.seq),
      through: Math.min(through.seq, row.seq) }
    // The first row may begin with the last events of the run before it.
    let isWanted = after.seq >= first.firstSeq
    for await (const { body, seq } of rowsOf({ log, branch: row.branch!, ...range })) {
      for (const entry of fold.take(decodeRow(body), seq)) {
        isWanted ||= entry.name.startsWith(`lifecycle|${first.runId}|`)
        const isAsked = isAfter(entry.place, after) && !isAfter(entry.place, through)
        if (isWanted && isAsked) yield entry
      }
    }
  }

  /** The run as if it had only begun; none if it was deleted. */
  async #finished(runId: string): Promise<RunOfEvents[]> {
    const { ports: { runs }, tenant, threadId } = this.#context
    const run = await runs.get(tenant, threadId, runId)
    return run ? [run] : []
  }
}
