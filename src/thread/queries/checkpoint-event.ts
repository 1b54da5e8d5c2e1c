/** Finds the last event of a run that a client has seen which knows the state at a checkpoint. */

import type { RecordOf } from '../../checkpoint/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { eventId } from '../model/event-position.ts'

/** The id of that event. Null if the checkpoint is not one of the run's. */
export async function eventAtCheckpoint(runId: string, checkpointId: string,
  { threadLog, ports: { log } }: ThreadContext): Promise<string | null> {
  await threadLog.durable
  const place = await log.findCheckpoint(threadLog.state.row.branch!, checkpointId)
  if (!place || place.seq === 0) return null
  const records = await threadLog.recordsAt(place.seq)
  const index = lastIndexIn(records, runId, checkpointId)
  return index === undefined ? null : eventId({ seq: place.seq, index })
}

/**
 * A row has the events of a superstep behind its checkpoint. Several supersteps may share a record
 * of events: then only the state values tell which are whose, and without them none was seen.
 */
function lastIndexIn(records: readonly RecordOf[], runId: string, checkpointId: string):
  | number
  | undefined {
  const at = records.findIndex(({ $case, value }) =>
    $case === 'checkpoint' && value.id === checkpointId && value.runId === runId
  )
  if (at < 0) return undefined
  const through = records.findIndex(({ $case }, index) => index > at && $case === 'emitted')
  const emitted = records[through]
  if (emitted?.$case !== 'emitted' || emitted.value.runId !== runId) return 0
  const { events } = emitted.value
  const values = events.find(({ valuesOf }) => valuesOf === checkpointId)
  const isShared = records.slice(at + 1, through).some(({ $case }) => $case === 'checkpoint')
  return (isShared ? values : values ?? events.at(-1))?.index ?? 0
}
