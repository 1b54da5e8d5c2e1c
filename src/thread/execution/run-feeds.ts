/** The feeds of one thread's runs: of those under way, and of some that have ended. */

import { atLatest } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { ignoreNotFound } from '../../errors.ts'
import { eventsOf } from '../context/resume-point.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { hostOfRun } from '../context/thread-graphs.ts'
import { EventStream } from '../feed/event-stream.ts'
import type { FeedPast } from '../feed/event-stream.ts'
import { lastIndex, placeOf } from '../model/event-position.ts'
import type { EventPlace } from '../model/event-position.ts'
import { endEntry, errorEntry } from '../model/feed-entry.ts'
import type { EndOfRun, FeedEntry } from '../model/feed-entry.ts'
import { threadDeleted } from '../decide/run-result.ts'
import { planOf } from '../model/run-request.ts'
import type { FeedListener, FollowRun, StartRun } from '../model/thread-client.ts'
import { stateBytes } from '../queries/state-values.ts'

/** Makes, publishes and ends feeds by run id. */
export class RunFeeds {
  readonly #context: ThreadContext
  readonly #feeds = new Map<string, EventStream>()
  /** Feeds of runs that have ended and are forgotten, but still followed. */
  readonly #stillRead = new Set<EventStream>()
  /** Ids of `awaited` runs: no client knows them yet, so none can follow. */
  readonly #unannounced = new Set<string>()
  readonly #endSeen: () => void

  /** `endSeen` is called when a follower has got the end of a run. */
  constructor(context: ThreadContext, endSeen: () => void) {
    this.#context = context
    this.#endSeen = endSeen
  }

  get followed(): boolean {
    return [...this.#feeds.values(), ...this.#stillRead].some(({ followed }) => followed)
  }

  has(runId: string): boolean {
    return this.#feeds.has(runId)
  }

  begin(runId: string, { awaited, plan: { graphId } }: Pick<StartRun, 'awaited' | 'plan'>): void {
    this.#feeds.set(runId, new EventStream({ graphId, endSeen: this.#endSeen }))
    if (awaited) this.#unannounced.add(runId)
  }

  /** For a run from an earlier activation: its events before row `seq` are in the log. */
  resume(run: RunRow, seq: number): void {
    this.#feeds.set(run.runId, new EventStream({
      graphId: planOf(run).graphId,
      revision: run.revision,
      endSeen: this.#endSeen,
      forgotten: { seq: seq - 1, index: lastIndex },
    }))
  }

  /** The run is executed by a revision of its deployment. */
  pin(runId: string, revision: string): void {
    const feed = this.#feeds.get(runId)
    if (feed) feed.revision = revision
  }

  /** Publishes when `durable` resolves; calls must come in the order of the rows. */
  publish(runId: string, durable: Promise<void>, entries: readonly FeedEntry[]): void {
    const feed = this.#feeds.get(runId)
    if (!feed || entries.length === 0) return
    durable.then(() => {
      feed.publish(feed.followed ? entries.map((entry) => this.#withValues(entry, feed)) : entries)
    }, () => {})
  }

  /** Resolves when all followers have taken what was published, after `ms` at the latest. */
  async taken(runId: string, ms: number): Promise<void> {
    const taken = this.#feeds.get(runId)?.taken()
    if (taken) await atLatest(this.#context.ports.env, ms, taken)
  }

  /**
   * Ends the feed behind everything published before. It is kept for a while if a client may still
   * follow it; after that, its events are read from the log. True if it is followed now.
   */
  end(run: EndOfRun, durable: Promise<void>): boolean {
    const { runId } = run
    const feed = this.#feeds.get(runId)
    if (!feed) return false
    const { feeds } = this.#context.ports
    durable.then(() => {
      const isUnseen = this.#unannounced.has(runId) && !feed.wasFollowed
      if (!isUnseen) feed.publish([endEntry(run)])
      feed.end()
      // The feed was dropped meanwhile.
      if (this.#feeds.get(runId) !== feed) return
      this.#unannounced.delete(runId)
      if (isUnseen) this.forget(runId)
      else feeds.hold(feed, feed.bytes + 1_024, () => this.forget(runId))
    }, () => {})
    return feed.followed
  }

  /** Later followers read the log; present ones still get the end. */
  forget(runId: string): void {
    const feed = this.#feeds.get(runId)
    if (!feed) return
    this.#feeds.delete(runId)
    this.#unannounced.delete(runId)
    this.#context.ports.feeds.release(feed)
    if (feed.followed) this.#keep(feed)
  }

  /** `run` is given if its feed is not remembered: all its events are read from the log then. */
  follow(runId: string, run: RunRow | undefined, { after, modes }: FollowRun,
    listener: FeedListener): () => void {
    const feed = this.#feeds.get(runId) ?? this.#overFeed(run!)
    return feed.follow(placeOf(after), modes, listener, this.#past(runId, run, feed))
  }

  /**
   * The thread was deleted by row `seq`: all feeds end when `durable` resolves, those of unfinished
   * runs with an error. Runs that begin from now on get new ones.
   */
  endAll(seq: number, durable: Promise<void>): void {
    const unfinished = [...this.#feeds].filter(([, feed]) => !feed.hasEnded)
    const feeds = this.#clear()
    durable.then(() => {
      for (const [runId, feed] of unfinished) {
        feed.publish([errorEntry(threadDeleted, seq),
          endEntry({ runId, status: 'error', lastSeq: seq })])
      }
      for (const feed of feeds) feed.end()
    }, () => {
      for (const feed of feeds) feed.lose()
    })
  }

  loseAll(): void {
    for (const feed of this.#clear()) feed.lose()
  }

  /** The feed of a run that has ended and is not remembered. */
  #overFeed(run: RunRow): EventStream {
    const feed = new EventStream({
      graphId: planOf(run).graphId,
      revision: run.revision,
      endSeen: this.#endSeen,
      forgotten: { seq: Number.MAX_SAFE_INTEGER, index: 0 },
    })
    feed.publish([endEntry(run)])
    feed.end()
    this.#keep(feed)
    return feed
  }

  #keep(feed: EventStream): void {
    for (const one of this.#stillRead) if (!one.followed) this.#stillRead.delete(one)
    this.#stillRead.add(feed)
  }

  /** Returns the feeds that there were. */
  #clear(): EventStream[] {
    const feeds = [...this.#feeds.values(), ...this.#stillRead]
    for (const feed of feeds) this.#context.ports.feeds.release(feed)
    this.#feeds.clear()
    this.#stillRead.clear()
    this.#unannounced.clear()
    return feeds
  }

  #channelsOf({ graphId, revision }: EventStream) {
    return hostOfRun(this.#context, { revision }).describe(graphId)?.stateChannels
  }

  #withValues(entry: FeedEntry, feed: EventStream): FeedEntry {
    if (entry.json !== undefined) return entry
    const channels = this.#channelsOf(feed)
    const view = this.#context.threadLog.recentView(entry.valuesOf)
    if (!view || !channels) return entry
    try {
      return { ...entry, json: view.json(channels) }
    } catch {
      // Longer than a string may be: followers cannot read it either, and end as `unread`.
      return entry
    }
  }

  #past(runId: string, known: RunRow | undefined, feed: EventStream): FeedPast {
    const { ports: { log, runs, reads }, threadLog, tenant, threadId } = this.#context
    return {
      read: async function*(after: EventPlace, through: EventPlace): AsyncGenerator<FeedEntry> {
        const { branch, seq } = threadLog.state.row
        const run = known ?? threadLog.state.runs.find((row) => row.runId === runId)
          ?? await runs.get(tenant, threadId, runId)
        if (!run) return
        await threadLog.durable
        yield* eventsOf(run, { log, branch: branch!, through: seq }, { after, through })
      },
      values: (checkpointId) =>
        reads.read({ tenant, bytes: stateBytes }, (allowance) =>
          threadLog.values(checkpointId, this.#channelsOf(feed) ?? null, allowance)).catch(
            ignoreNotFound,
          ),
    }
  }
}
