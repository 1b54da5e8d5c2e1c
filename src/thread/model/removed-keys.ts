/** Idempotency-Keys of removed runs: a repeated request must not start another run. Pure. */

import type { RemovedKey, RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'

/** Milliseconds for which a key names its run. */
export const keyMs = 24 * 3_600_000
/** Maximum number of keys in the row of a thread. The oldest are dropped. */
export const removedKeysMax = 256

/** The part of a thread that keys of removed runs concern. */
interface Keyed {
  readonly row: ThreadRow
  readonly runs: readonly RunRow[]
}

/** The keys of removed runs, oldest first. */
export function removedKeysOf({ removedKeys }: ThreadRow): readonly RemovedKey[] {
  return removedKeys?.keys ?? []
}

/** Adds the keys of runs that the record removed. `before` is the thread before the record. */
export function withRemovedKeys<State extends Keyed>(before: Keyed, after: State,
  record: RecordOf): State {
  const removed = removedBy(before, record)
  if (removed.length === 0) return after
  const keys = [...removedKeysOf(after.row), ...removed].slice(-removedKeysMax)
  return { ...after, row: { ...after.row, removedKeys: { keys } } }
}

function removedBy({ runs }: Keyed, { $case, value }: RecordOf): readonly RemovedKey[] {
  if ($case === 'headMoved') {
    return runs.filter(({ runId, commandId }) =>
      commandId !== '' && value.droppedRunIds.includes(runId)
    ).map((run) => keyOf(run, false))
  }
  if ($case !== 'runDeleted') return []
  const { runId, taken = false, commandId, createdAtMs = 0 } = value
  const run = runs.find((each) => each.runId === runId)
  if (run !== undefined && run.commandId !== '') return [keyOf(run, taken)]
  return commandId === undefined
    ? []
    : [{ key: commandId, runId, createdAtMs, createdSeq: 0, taken }]
}

function keyOf({ commandId: key, runId, createdAtMs, createdSeq }: RunRow,
  taken: boolean): RemovedKey {
  return { key, runId, createdAtMs, createdSeq, taken }
}
