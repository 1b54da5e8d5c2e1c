/** The events of one run, in order: told to whoever follows, kept for whoever comes later. */

import type { JsonText } from '../checkpoint/index.ts'
import type { FeedEvent, FeedListener } from './client.ts'

/**
 * An event's place: the log row that made it true, and its number behind that row. Tokens, which
 * have no row of their own, are numbered behind the last row before them.
 */
export interface EventPlace {
  readonly seq: number
  readonly index: number
}

export interface FeedEntry {
  readonly place: EventPlace
  readonly name: string
  /** Undefined: the state values of `valuesOf`, not looked up yet. */
  readonly json: JsonText | undefined
  readonly valuesOf: string
}

/** The `error` event of a run stands behind everything else its last row told. */
export const lastIndex = 1_000_000_000

/** Before every event. */
const start: EventPlace = { seq: -1, index: 0 }

/** `<seq>.<index>`. Clients only hand it back. */
function eventId({ seq, index }: EventPlace): string {
  return `${seq}.${index}`
}

/** Everything that is not an id of ours means from the start, as `-1`, `-` and null do. */
export function placeOf(id: string | null): EventPlace {
  const [, seq, index] = /^(\d{1,15})\.(\d{1,10})$/.exec(id ?? '') ?? []
  return seq === undefined ? start : { seq: Number(seq), index: Number(index) }
}

export function isAfter(a: EventPlace, b: EventPlace): boolean {
  return a.seq > b.seq || (a.seq === b.seq && a.index > b.index)
}

/** The API stream mode that asks for an event; undefined for what everybody is told. */
function modeOf(name: string): string | undefined {
  const [kind = ''] = name.split('|', 1)
  if (kind === 'metadata' || kind === 'error' || kind === 'feedback') return undefined
  if (kind === 'messages') return 'messages-tuple'
  return kind.startsWith('messages/') ? 'messages' : kind
}

/** How long a feed remembers: an older event is read from the log, if the log has it. */
const remembered = { events: 4_000, bytes: 2 * 1024 * 1024 } as const

interface Follower {
  readonly modes: ReadonlySet<string> | null
  readonly listener: FeedListener
  readonly past: FeedPast
  /** What was published while the past was still being looked up; undefined afterwards. */
  waiting: FeedEntry[] | undefined
}

/** Where a feed finds what it does not remember. */
export interface FeedPast {
  /** Durable events after `after`, up to and with `through`, as the log has them. */
  read(after: EventPlace, through: EventPlace): Promise<FeedEntry[]>
  /** undefined where a rollback has taken the checkpoint out of history. */
  values(checkpointId: string): Promise<JsonText | undefined>
}

export interface RunFeedOptions {
  /** The graph whose values it tells. */
  readonly graphId: string
  /** Called when a follower has been told the end. */
  readonly heard: () => void
  /** What came before this feed began, in an earlier life of the thread. */
  readonly forgotten?: EventPlace
}

export class RunFeed {
  readonly graphId: string
  #entries: FeedEntry[] = []
  #bytes = 0
  /** Events up to here are no longer remembered. */
  #forgotten: EventPlace = start
  #over = false
  #wasFollowed = false
  readonly #followers = new Set<Follower>()

  readonly #heard: () => void

  constructor({ graphId, heard, forgotten }: RunFeedOptions) {
    this.graphId = graphId
    this.#heard = heard
    if (forgotten) this.#forgotten = forgotten
  }

  /** Events up to here have to be looked up. */
  get forgotten(): EventPlace { return this.#forgotten }
  get followed(): boolean { return this.#followers.size > 0 }
  get wasFollowed(): boolean { return this.#wasFollowed }
  get bytes(): number { return this.#bytes }

  /** Only what is durable, or says that it is not, is published. */
  publish(entries: readonly FeedEntry[]): void {
    for (const entry of entries) this.#remember(entry)
    const complete = entries.every(({ json }) => json !== undefined)
    for (const follower of this.#followers) {
      if (follower.waiting) follower.waiting.push(...entries)
      else if (complete) tell(follower, entries)
      else void this.#catchUp(follower, entries)
    }
  }

  /** The run is over: followers are told, later ones get what is remembered and then the end. */
  end(): void {
    this.#over = true
    for (const follower of this.#followers) {
      if (!follower.waiting) this.#close(follower)
    }
  }

  /** The thread goes away while the run does not: followers come back and find it elsewhere. */
  lose(): void {
    for (const { listener } of this.#followers) listener.ended('lost')
    this.#followers.clear()
  }

  /** Tells everything after `after`, then what comes. Returns how to stop. */
  async follow(after: EventPlace, modes: readonly string[] | null, listener: FeedListener,
    past: FeedPast): Promise<() => void> {
    const follower: Follower = { modes: modes && new Set(modes), listener, past, waiting: [] }
    const kept = this.#entries.filter(({ place }) => isAfter(place, after))
    this.#followers.add(follower)
    this.#wasFollowed = true
    const forgotten = this.#forgotten
    try {
      const older = isAfter(forgotten, after) ? await past.read(after, forgotten) : []
      await this.#catchUp(follower, [...older, ...kept])
    } catch (error) {
      this.#followers.delete(follower)
      throw error
    }
    return () => this.#followers.delete(follower)
  }

  /** Tells a batch whose values must be looked up, and whatever is published meanwhile. */
  async #catchUp(follower: Follower, entries: readonly FeedEntry[]): Promise<void> {
    try {
      follower.waiting ??= []
      let batch = entries
      // Also where there is nothing to look up: something may wait already.
      do {
        const told = await withValues(batch, follower.past)
        if (!this.#followers.has(follower)) return
        tell(follower, told)
        batch = follower.waiting
        follower.waiting = []
      } while (batch.length > 0)
      follower.waiting = undefined
      if (this.#over) this.#close(follower)
    } catch {
      this.#followers.delete(follower)
      follower.listener.ended('lost')
    }
  }

  #close(follower: Follower): void {
    this.#followers.delete(follower)
    follower.listener.ended('over')
    this.#heard()
  }

  #remember(entry: FeedEntry): void {
    this.#entries.push(entry)
    this.#bytes += entryBytes(entry)
    if (this.#entries.length <= remembered.events && this.#bytes <= remembered.bytes) return
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

async function withValues(entries: readonly FeedEntry[], past: FeedPast): Promise<FeedEntry[]> {
  const told: FeedEntry[] = []
  for (const entry of entries) {
    const json = entry.json ?? await past.values(entry.valuesOf)
    if (json !== undefined) told.push({ ...entry, json })
  }
  return told
}

function tell({ modes, listener }: Follower, entries: readonly FeedEntry[]): void {
  const events: FeedEvent[] = []
  for (const { place, name, json } of entries) {
    const mode = modeOf(name)
    if (modes && mode !== undefined && !modes.has(mode)) continue
    events.push({ id: eventId(place), name, json: json! })
  }
  if (events.length > 0) listener.events(events)
}
