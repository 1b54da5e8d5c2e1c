/** A batch as it leaves an execution's worker, and how a long one is sent in parts. */

import type { JsonText, ExecutionOutcome, StepBatch } from '../execution.ts'

/** A batch as it is sent to the main thread. */
export interface WorkerBatch extends StepBatch {
  /**
   * Number that the main thread confirms when the batch is in the log; 0 if no caller waits for
   * that.
   */
  readonly ackId: number
  /** Set in the last batch of an execution; null in others. */
  readonly outcome: ExecutionOutcome | null
}

/** Bound on characters of events in flight: sent, and not known to have landed. */
export const inFlightMax = 1024 * 1024

/** Characters of a batch's events. */
export function lengthOf({ events, texts = [] }: WorkerBatch): number {
  return lengthOfAll(texts) + lengthOfAll(events.map(({ json }) => json))
}

function lengthOfAll(texts: readonly JsonText[]): number {
  return texts.reduce((sum, { length }) => sum + length, 0)
}

/**
 * Splits a batch that is too long. Content of one row of the log stays in the first part. The data
 * of events that are not logged follows in the others. The last part has the outcome.
 */
export function* partsOf(batch: WorkerBatch): Generator<WorkerBatch> {
  if (lengthOf(batch) <= inFlightMax) return yield batch
  const texts: JsonText[] = []
  const events = batch.events.map((event) => {
    if (event.durable || event.valuesOf !== '') return event
    texts.push(event.json)
    return { ...event, json: '' }
  })
  const pieces = [...piecesOf(texts)]
  const last = pieces.pop()
  yield { ...batch, events, outcome: last ? null : batch.outcome }
  const rest = { ...batch, steps: [], events: [], ackId: 0 }
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
