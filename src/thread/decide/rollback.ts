/** Works out what a rollback changes: the new head, and the checkpoints that are found no more. */

import type { CheckpointPlace, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { newestOf } from '../../checkpoint/index.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { recordsOf } from '../context/resume-point.ts'
import type { ThreadLogPorts, ThreadLog } from '../log/thread-log.ts'

export interface Rollback {
  /** Undefined: back to no checkpoint at all. */
  readonly head: CheckpointPlace | undefined
  /** Replace the places of the dropped checkpoints, so that these are not found any more. */
  readonly places: readonly CheckpointPlace[]
}

/** Reads only the rows that the run wrote. */
export async function rollbackOf(run: RunRow, threadLog: ThreadLog,
  { log }: ThreadLogPorts): Promise<Rollback> {
  await threadLog.durable
  const { position: { seq: backSeq }, state: { row } } = threadLog
  const branch = row.branch!
  const base = run.baseCheckpointId
  const head = base === '' ?
    undefined
    : row.head?.id === base
    ? row.head
    : await log.findCheckpoint(branch, base)
  const places: CheckpointPlace[] = []
  /** By namespace below the root: the parent of the run's first checkpoint there. */
  const parents = new Map<string, string>()
  const span = { log, branch, through: row.seq }
  for await (const { record } of recordsOf(run, span, run.firstSeq)) {
    if (record.$case !== 'checkpoint' || record.value.runId !== run.runId) continue
    const { ns, id, parentId } = record.value
    places.push(nowhere(id, backSeq))
    if (ns !== '' && !parents.has(ns)) parents.set(ns, parentId)
  }
  for (const [ns, parentId] of parents) {
    const before = parentId === '' ? undefined : await log.findCheckpoint(branch, parentId)
    places.push(before ? { ...before, id: newestOf(ns) } : nowhere(newestOf(ns), backSeq))
  }
  return { head, places }
}

/** Throws `not_found` for a checkpoint that the rollback drops. */
export function requireOutlive(checkpointId: string, { places }: Rollback): void {
  if (!places.some(({ id, seq }) => id === checkpointId && seq === 0)) return
  throw new HeddleError('not_found', `Checkpoint ${checkpointId} is one of the run that this one ` +
    'would roll back: begin from an earlier one, or from none.')
}

/** The records of runs that end without a trace; `rollback` if one of them had started. */
export function takenBack(runs: readonly Pick<RunRow, 'runId'>[], rollback: Rollback | undefined,
  atMs: number): RecordOf[] {
  if (!rollback) {
    return runs.map(({ runId }) => ({ $case: 'runDeleted', value: { runId, atMs } }))
  }
  const { head } = rollback
  const droppedRunIds = runs.map(({ runId }) => runId)
  return [{ $case: 'headMoved',
    value: { checkpointId: head?.id ?? '', seq: head?.seq ?? 0, base: head?.base ?? 0,
      droppedRunIds, atMs } }]
}

/** A place at which nothing is found, for no row has the number 0. `base` is the rollback's row. */
function nowhere(id: string, base: number): CheckpointPlace {
  return { id, seq: 0, base }
}
