/** Reads what a rollback needs: where the run began, and the checkpoints that it wrote. */

import type { CheckpointPlace, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { newestOf } from '../../checkpoint/index.ts'
import { recordsOf } from '../context/resume-point.ts'
import type { Rollback } from '../decide/cut-run.ts'
import type { ThreadLogPorts } from '../log/thread-log-options.ts'
import type { ThreadLog } from '../log/thread-log.ts'

/** Reads only the rows that the run wrote. */
export async function rollbackOf(run: RunRow, threadLog: ThreadLog,
  { log }: ThreadLogPorts): Promise<Rollback> {
  await threadLog.durable
  const { position: { seq: backSeq }, state: { row } } = threadLog
  const branch = row.branch!
  const base = run.baseCheckpointId
  const head = base === ''
    ? undefined
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

/** A place at which nothing is found, for no row has the number 0. `base` is the rollback's row. */
function nowhere(id: string, base: number): CheckpointPlace {
  return { id, seq: 0, base }
}
