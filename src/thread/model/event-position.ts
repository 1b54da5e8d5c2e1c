/** The places of runs' events in a thread's log, and the ids by which clients know them. */

/**
 * An event's place: the log row that made it true, and its number behind that row. Tokens, which
 * have no row of their own, are numbered behind the last row before them.
 */
export interface EventPlace {
  readonly seq: number
  readonly index: number
}

/** The `error` event of a run comes after all other events of its last row. */
export const lastIndex = 1_000_000_000

/** The `end` event of a run is its last one. */
export const endIndex = lastIndex + 1

/** The place before every event. */
export const start: EventPlace = { seq: -1, index: 0 }

/** Id that asks only for events that come from now on. */
export const fromNow = 'now'

/**
 * Id that asks for all that is retained but old ends: see `skipsOldEnds` of `WatchThread`. Members
 * of earlier versions send those as well.
 */
export const fromOwnRun = 'own'

/** The place behind every event. */
const end: EventPlace = { seq: Number.MAX_SAFE_INTEGER, index: 0 }

/** `<seq>.<index>`. Clients only hand it back. */
export function eventId({ seq, index }: EventPlace): string {
  return `${seq}.${index}`
}

/** Anything that is not an id of ours means from the start, as `-1`, `-` and null do. */
export function placeOf(id: string | null): EventPlace {
  if (id === fromNow) return end
  const [, seq, index] = /^(\d{1,15})\.(\d{1,10})$/.exec(id ?? '') ?? []
  return seq === undefined ? start : { seq: Number(seq), index: Number(index) }
}

/** True if event `a` comes after event `b`. */
export function isAfter(a: EventPlace, b: EventPlace): boolean {
  return a.seq > b.seq || (a.seq === b.seq && a.index > b.index)
}
