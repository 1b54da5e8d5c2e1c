/** What leaves an execution's worker at once, and how what is too much leaves in parts. */

import type { JsonText, Outcome, StepBatch } from './execution.ts'

/** A batch on its way, and what is to be done with it. */
export interface Departure extends StepBatch {
  /** To be acknowledged under this number when it is in the log; 0 for no need. */
  readonly receipt: number
  /** Set in the last one. */
  readonly outcome: Outcome | null
}

/** Characters of events that leave before anybody has said that they landed. */
export const aloftMax = 1024 * 1024

/** Characters of its events. */
export function lengthOf({ events, texts = [] }: Departure): number {
  return lengthOfAll(texts) + lengthOfAll(events.map(({ json }) => json))
}

function lengthOfAll(texts: readonly JsonText[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

/**
 * A batch that is too much at once goes without the data of events that no log has to keep, which
 * comes piece by piece after it: what must stand in one row of the log still does. The last part
 * has the outcome.
 */
export function* partsOf(departure: Departure): Generator<Departure> {
  if (lengthOf(departure) <= aloftMax) return yield departure
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
    if (piece.length > 0 && length + text.length > aloftMax) {
      yield piece
      piece = []
      length = 0
    }
    piece.push(text)
    length += text.length
  }
  if (piece.length > 0) yield piece
}
