/** The events of one run, in order: sent to followers, remembered for those that come later. */

import type { JsonText } from '../../checkpoint/index.ts'
import { eventId, isAfter, start } from '../model/event-position.ts'
import type { EventPlace } from '../model/event-position.ts'
import type { FeedEntry } from '../model/feed-entry.ts'
import type { FeedEnd, FeedEvent, FeedListener } from '../model/thread-client.ts'

const everybodys: ReadonlySet<string> = new Set(['metadata', 'error', 'feedback', 'end'])

/** The API stream mode that an event belongs to; undefined if every follower gets it. */
function modeOf(name: string): string | undefined {
  const [kind = ''] = name.split('|', 1)
  if (everybodys.has(kind)) return undefined
  if (kind === 'messages') return 'messages-tuple'
  return kind.startsWith('messages/') ? 'messages' : kind
}

function isIn(modes: ReadonlySet<string>, name: string): boolean {
  const mode = modeOf(name)
  return mode === undefined || modes.has(mode)
}

/** Events that a feed remembers: older ones are read from the log, as far as that has them. */
const remembered = { events: 4_000, bytes: 2 * 1024 * 1024 } as const

/** Bytes that are sent at once to a follower that catches up. */
const portionBytes = 256 * 1024

/** A bound on events, by their number and their bytes. */
export interface EventBound {
  readonly events: number
  readonly bytes: number
}

function isWithin(bound: EventBound, events: number, bytes: number): boolean {
  return events <= bound.events && bytes <= bound.bytes
}

interface Follower {
  readonly modes: ReadonlySet<string> | null
  readonly listener: FeedListener
  readonly past: FeedPast
  /** Events published while it catches up; undefined when it has caught up. */
  waiting: { readonly entries: FeedEntry[]; bytes: number } | undefined
  /** Resolves when it has caught up, or is gone. */
  caughtUp?: Promise<void>
}

/** Reads the events that a feed does not remember. */
export interface FeedPast {
  /** Durable events from the log, after `after` and up to and including `through`. */
  read(after: EventPlace, through: EventPlace): AsyncIterable<FeedEntry>
  /** Undefined if a rollback has taken the checkpoint out of history. */
  values(checkpointId: string): Promise<JsonText | undefined>
}

/** Graph, bounds and past of the feed of a run. */
export interface EventStreamOptions {
  /** The graph whose state values are sent. */
  readonly graphId: string
  /** The revision of the deployment whose graph it is; undefined for the server's own project. */
  readonly revision?: string | undefined
  /** Called when a follower has got the end. */
  readonly endSeen: () => void
  /** The last event before this feed began, in an earlier activation of the thread. */
  readonly forgotten?: EventPlace
  /** Events that it remembers, and by which a follower may fall behind. */
  readonly bound?: EventBound
  /** False for an event that only present followers get; by default, all are remembered. */
  readonly isKept?: (entry: FeedEntry) => boolean
}

/** The feed of one run. */
export class EventStream {
  readonly graphId: string
  /** As in the options; known when the run starts. */
  revision: string | undefined
  #entries: FeedEntry[] = []
  #bytes = 0
  /** Events up to here are no longer remembered. */
  #forgotten: EventPlace
  #ended = false
  #wasFollowed = false
  readonly #followers = new Set<Follower>()
  readonly #endSeen: () => void
  readonly #bound: EventBound
  readonly #isKept: ((entry: FeedEntry) => boolean) | undefined

  constructor(
    { graphId, revision, endSeen, forgotten = start, bound = remembered, isKept }:
      EventStreamOptions,
  ) {
    this.graphId = graphId
    this.revision = revision
    this.#bound = bound
    this.#isKept = isKept
    this.#endSeen = endSeen
    this.#forgotten = forgotten
  }

  /** Events up to here have to be read from the log. */
  get forgotten(): EventPlace {
    return this.#forgotten
  }
  get followed(): boolean {
    return this.#followers.size > 0
  }
  /** True once the end was published. */
  get hasEnded(): boolean {
    return this.#ended
  }
  get wasFollowed(): boolean {
    return this.#wasFollowed
  }
  get bytes(): number {
    return this.#bytes
  }

  /** To be called once events are durable, unless they need not be. */
  publish(entries: readonly FeedEntry[]): void {
    for (const entry of entries) this.#remember(entry)
    const complete = isComplete(entries)
    for (const follower of this.#followers) {
      if (follower.waiting) this.#keepWaiting(follower, entries)
      else if (complete) this.#notify(follower, entries)
      else this.#beginToCatchUp(follower, entries)
    }
  }

  /** Resolves when all followers have taken what was published, or follow no more. */
  async taken(): Promise<void> {
    await Promise.all(Array.from(this.#followers, async ({ caughtUp, listener }) => {
      await caughtUp
      await listener.ready?.()
    }))
  }

  /** The run has ended: followers get the end, later ones what is remembered and then the end. */
  end(): void {
    this.#ended = true
    for (const follower of this.#followers) {
      if (!follower.waiting) this.#close(follower)
    }
  }

  /** The thread goes away but the run does not: followers come back and find it elsewhere. */
  lose(): void {
    for (const { listener } of this.#followers) listener.ended('lost')
    this.#followers.clear()
  }

  /** Remembers nothing that was published so far: that is read from the log. Followers stay. */
  forget(): void {
    this.#forgotten = this.#entries.at(-1)?.place ?? this.#forgotten
    this.#entries = []
    this.#bytes = 0
  }

  /** Places begin anew: nothing is before the next event. Followers stay. */
  restart(): void {
    this.forget()
    this.#forgotten = start
  }

  /**
   * Sends everything after `after`, then what comes. Does not wait while a long past is read; if
   * that cannot be read, the follow ends as `unread`. The result stops it.
   */
  follow(after: EventPlace, modes: readonly string[] | null, listener: FeedListener,
    past: FeedPast): () => void {
    const follower: Follower = { modes: modes && new Set(modes), listener, past,
      waiting: undefined }
    const kept = this.#entries.filter(({ place }) => isAfter(place, after))
    this.#followers.add(follower)
    this.#wasFollowed = true
    const forgotten = this.#forgotten
    const isForgotten = isAfter(forgotten, after)
    // More than a portion is sent as fast as the reader takes it.
    if (isForgotten || !isComplete(kept) || bytesOf(kept) > portionBytes) {
      this.#beginToCatchUp(follower, isForgotten ? joined(past.read(after, forgotten), kept) : kept)
    } else {
      this.#notify(follower, kept)
      if (this.#ended) this.#close(follower)
    }
    return () => this.#followers.delete(follower)
  }

  #beginToCatchUp(follower: Follower, entries: Entries): void {
    follower.caughtUp = this.#catchUp(follower, entries)
  }

  /** Sends events whose values must be looked up, and whatever is published meanwhile. */
  async #catchUp(follower: Follower, entries: Entries): Promise<void> {
    try {
      for (let batch = entries;;) {
        const waiting = follower.waiting = { entries: [], bytes: 0 }
        for await (const portion of portionsOf(batch, follower.past)) {
          if (!this.#followers.has(follower)) return
          notify(follower, portion)
          await follower.listener.ready?.()
        }
        if (!this.#followers.has(follower)) return
        batch = waiting.entries
        if (waiting.entries.length === 0) break
      }
      follower.waiting = undefined
      if (this.#ended) this.#close(follower)
    } catch {
      this.#loseOne(follower, 'unread')
    }
  }

  /** The follow of a client that falls too far behind ends: it may come back for the rest. */
  #keepWaiting(follower: Follower, entries: readonly FeedEntry[]): void {
    const waiting = follower.waiting!
    for (const entry of entries) {
      waiting.entries.push(entry)
      waiting.bytes += entryBytes(entry)
    }
    if (isWithin(this.#bound, waiting.entries.length, waiting.bytes)) return
    this.#loseOne(follower, 'lagged')
  }

  /** A listener that throws ends its own follow only. */
  #notify(follower: Follower, entries: readonly FeedEntry[]): void {
    try {
      notify(follower, entries)
    } catch {
      this.#loseOne(follower, 'lost')
    }
  }

  #loseOne(follower: Follower, how: FeedEnd): void {
    if (this.#followers.delete(follower)) follower.listener.ended(how)
  }

  #close(follower: Follower): void {
    if (!this.#followers.delete(follower)) return
    follower.listener.ended('over')
    this.#endSeen()
  }

  #remember(entry: FeedEntry): void {
    if (this.#isKept?.(entry) === false) return
    this.#entries.push(entry)
    this.#bytes += entryBytes(entry)
    if (isWithin(this.#bound, this.#entries.length, this.#bytes)) return
    const half = this.#entries.length >> 1
    const gone = this.#entries.slice(0, Math.max(1, half))
    this.#entries = this.#entries.slice(gone.length)
    this.#forgotten = gone.at(-1)!.place
    for (const old of gone) this.#bytes -= entryBytes(old)
  }
}

function entryBytes({ json }: FeedEntry): number {
  return 64 + (json?.length ?? 0)
}

function bytesOf(entries: readonly FeedEntry[]): number {
  return entries.reduce((sum, entry) => sum + entryBytes(entry), 0)
}

function isComplete(entries: readonly FeedEntry[]): boolean {
  return entries.every(({ json }) => json !== undefined)
}

type Entries = Iterable<FeedEntry> | AsyncIterable<FeedEntry>

async function* joined(...parts: readonly Entries[]): AsyncGenerator<FeedEntry> {
  for (const part of parts) yield* part
}

/** Events with their values looked up, in portions of bounded length. */
async function* portionsOf(entries: Entries, past: FeedPast): AsyncGenerator<FeedEntry[]> {
  let portion: FeedEntry[] = []
  let bytes = 0
  for await (const entry of entries) {
    const json = entry.json ?? await past.values(entry.valuesOf)
    if (json === undefined) continue
    portion.push({ ...entry, json })
    bytes += entryBytes(portion.at(-1)!)
    if (bytes < portionBytes) continue
    yield portion
    portion = []
    bytes = 0
  }
  if (portion.length > 0) yield portion
}

function notify({ modes, listener }: Follower, entries: readonly FeedEntry[]): void {
  const events: FeedEvent[] = []
  for (const { place, name, json } of entries) {
    if (modes && !isIn(modes, name)) continue
    events.push({ id: eventId(place), name, json: json! })
  }
  if (events.length > 0) listener.events(events)
}
