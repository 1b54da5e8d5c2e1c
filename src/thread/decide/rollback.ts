/** Changes by a rollback: the new head, and the checkpoints that are found no more. Pure. */

import type { CheckpointPlace, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'

/** Places that were read for the rollback of a run. */
export interface Rollback {
  /** Undefined: back to no checkpoint at all. */
  readonly head: CheckpointPlace | undefined
  /** Replace the places of the dropped checkpoints, so that these are not found any more. */
  readonly places: readonly CheckpointPlace[]
}

/** Throws `not_found` for a checkpoint that the rollback drops. */
export function requireOutlive(checkpointId: string, { places }: Rollback): void {
  if (!places.some(({ id, seq }) => id === checkpointId && seq === 0)) return
  throw new HeddleError('not_found', `Checkpoint ${checkpointId} is one of the run that this one ` +
    'would roll back: begin from an earlier one, or from none.')
}

/** A run that is removed. Its Idempotency-Key is empty without one. */
export type RemovedRun = Pick<RunRow, 'runId' | 'commandId' | 'createdAtMs'>

/** The records of runs that end without a trace; `rollback` if one of them had started. */
export function takenBack(runs: readonly RemovedRun[], rollback: Rollback | undefined,
  atMs: number): RecordOf[] {
  if (!rollback) {
    return runs.map(({ runId, commandId, createdAtMs }) => ({ $case: 'runDeleted',
      value: { runId, atMs, ...commandId !== '' && { commandId, createdAtMs } } })
    )
  }
  const { head } = rollback
  const droppedRunIds = runs.map(({ runId }) => runId)
  return [{ $case: 'headMoved',
    value: { checkpointId: head?.id ?? '', seq: head?.seq ?? 0, base: head?.base ?? 0,
      droppedRunIds, atMs } }]
}
