/** Records and events that a batch of an execution adds to the log and the feed. Pure. */

import type { RecordOf } from '../../checkpoint/index.ts'
import type { Step, StepBatch, StepEvent } from '../../graph/index.ts'
import type { FeedEntry } from '../model/feed-entry.ts'
import type { EventPlace } from '../model/event-position.ts'

/** Place of a batch in the log and in the feed. */
export interface BatchPlace {
  readonly runId: string
  /** The row that the batch goes into if it adds to the log. */
  readonly seq: number
  /** The place of the last event before it. */
  readonly last: EventPlace
}

/** A batch as records and events; `last` is the place of its last event. */
export interface StepsDecision {
  readonly records: readonly RecordOf[]
  readonly entries: readonly FeedEntry[]
  readonly last: EventPlace
}

/** Events of a batch that adds to the log stand behind its row, others behind the last one. */
export function decideSteps({ steps, events }: Pick<StepBatch, 'steps' | 'events'>,
  { runId, seq, last: before }: BatchPlace, nowMs: number): StepsDecision {
  const records = stepRecords(steps, runId, nowMs)
  const hasDurable = events.some(({ durable }) => durable)
  const adds = steps.length > 0 || hasDurable
  let last = adds && seq !== before.seq ? { seq, index: 0 } : before
  const entries = events.map(({ name, json, valuesOf }) => {
    last = { ...last, index: last.index + 1 }
    return { place: last, name, json: valuesOf === '' ? json : undefined, valuesOf }
  })
  if (hasDurable) records.push(emittedRecord(runId, events, entries))
  return { records, entries, last }
}

/** The steps as the log keeps them. `runId` is empty for an edit. */
export function stepRecords(steps: readonly Step[], runId: string, atMs: number): RecordOf[] {
  return steps.map((step) =>
    step.$case === 'writes'
      ? step
      : { $case: 'checkpoint', value: { ...step.value, runId, atMs } }
  )
}

function emittedRecord(runId: string, events: readonly StepEvent[],
  entries: readonly FeedEntry[]): RecordOf {
  const emitted = events.flatMap(({ name, json, valuesOf, durable }, i) =>
    durable ? [{ index: entries[i]!.place.index, name, json, valuesOf }] : []
  )
  return { $case: 'emitted', value: { runId, events: emitted } }
}
