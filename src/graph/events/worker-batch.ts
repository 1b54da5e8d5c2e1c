/** A batch as it leaves an execution's worker, and how a long one is sent in parts. */

import type { JsonText, Outcome, StepBatch } from '../execution.ts'

/** A batch as it is sent to the main thread. */
export interface Departure extends StepBatch {
  /** The main thread confirms this number when the batch is in the log; 0: nobody waits for it. */
  readonly receipt: number
  /** Set in the last departure of an execution. */
  readonly outcome: Outcome | null
}

/** Limit on characters of events in flight: sent, but not yet known to have landed. */
export const inFlightMax = 1024 * 1024

/** Characters of the events in it. */
export function lengthOf({ events, texts = [] }: Departure): number {
  return lengthOfAll(texts) + lengthOfAll(events.map(({ json }) => json))
}

function lengthOfAll(texts: readonly JsonText[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

/**
 * Splits a batch that is too long. What belongs into one row of the log stays in the first part;
 * the data of events that are not logged follows in the others. The last part has the outcome.
 */
export function* partsOf(departure: Departure): Generator<Departure> {
  if (lengthOf(departure) <= inFlightMax) return yield departure
  const texts: JsonText[] = []
  const events = departure.events.map((event) => {
    if (event.durable || event.valuesOf !== '') return event
    texts.push(event.json)
    return { ...event, json: '' }
  })
  const pieces = [...piecesOf(texts)]
  const last = pieces.pop()
  yield { ...departure, events, outcome: last ? null : departure.outcome }
  const rest = { ...departure, steps: [], events: [], receipt: 0 }
  for (const piece of pieces) yield { ...rest, texts: piece, outcome: null }
  if (last) yield { ...rest, texts: last }
}

function* piecesOf(texts: readonly JsonText[]): Generator<JsonText[]> {
  let piece: JsonText[] = []
  let length = 0
  for (const text of texts) {
    if (piece.length > 0 && length + text.length > inFlightMax) {
      yield piece
      piece = []
      length = 0
    }
    piece.push(text)
    length += text.length
  }
  if (piece.length > 0) yield piece
}
