/** Takes a run's writes out of history: where the head returns to, and what is found no more. */

import type { CheckpointPlace, RunRow } from '../../proto/gen/storage/v1/row.ts'
import { newestOf } from '../checkpoint/index.ts'
import { HeddleError } from '../errors.ts'
import { recordsOf } from './run-trail.ts'
import type { LedgerPorts, ThreadLedger } from './thread-ledger.ts'

export interface Rollback {
  /** undefined: back to nothing. */
  readonly head: CheckpointPlace | undefined
  /** Overrides under which the dropped checkpoints are not found any more. */
  readonly places: readonly CheckpointPlace[]
}

/** Reads only the rows that the run wrote. */
export async function rollbackOf(run: RunRow, ledger: ThreadLedger, { log }: LedgerPorts):
  Promise<Rollback> {
  await ledger.durable
  const { position: { seq: backSeq }, state: { row } } = ledger
  const branch = row.branch!
  const base = run.baseCheckpointId
  const head = base === '' ? undefined
    : row.head?.id === base ? row.head : await log.findCheckpoint(branch, base)
  const places: CheckpointPlace[] = []
  /** Of each namespace below the root: where the run's first checkpoint there grew from. */
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
export function mustOutlive(checkpointId: string, { places }: Rollback): void {
  if (!places.some(({ id, seq }) => id === checkpointId && seq === 0)) return
  throw new HeddleError('not_found', `Checkpoint ${checkpointId} is one of the run that this one ` +
    'would roll back: begin from an earlier one, or from none.')
}

/** No row has the number 0: what is here is not found. It was taken back by the row `base`. */
function nowhere(id: string, base: number): CheckpointPlace {
  return { id, seq: 0, base }
}
