/** Changes by the records of a thread to the rows of its runs. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import type { RunStatus } from '../../search/index.ts'
import type { ThreadState } from './thread-state.ts'

type Payload<Case extends RecordOf['$case']> = Extract<RecordOf, { $case: Case }>['value']

/** The run as it is after `runEnded`: what its row says from then on. */
export function endedRun(run: RunRow, value: Payload<'runEnded'>, seq: number): RunRow {
  return {
    ...run,
    status: value.status,
    updatedAtMs: Math.max(run.updatedAtMs, value.atMs),
    errorJson: value.errorJson,
    interruptsJson: value.interruptsJson,
    finalCheckpointId: value.finalCheckpointId,
    lastSeq: seq,
    ...value.untrackedJson !== undefined && { hasUntracked: true },
    ...value.cancelReason !== undefined && { cancelReason: value.cancelReason },
  }
}

/** Changes by one record to the rows of runs. */
export interface RunChanges {
  readonly changed: RunRow | undefined
  readonly removedRunIds: readonly string[]
  /** The runs that have ended by it, as they are then: ended, or dropped before that. */
  readonly ended: readonly RunRow[]
}

/** `record` is in row `seq` and led from the state `before` to `after`. */
export function runChanges(record: RecordOf, before: ThreadState, after: ThreadState,
  seq: number): RunChanges {
  return { ...rowChanges(record, before, after, seq), ended: overBy(record, before, after, seq) }
}

function rowChanges(record: RecordOf, before: ThreadState, after: ThreadState,
  seq: number): Omit<RunChanges, 'ended'> {
  const find = (state: ThreadState, id: string) => state.runs.find(({ runId }) => runId === id)
  switch (record.$case) {
    case 'runDeleted':
      return { changed: undefined, removedRunIds: [record.value.runId] }
    case 'headMoved':
      return { changed: undefined, removedRunIds: record.value.droppedRunIds }
    case 'runCreated':
    case 'runStarted':
    case 'runEnded': {
      const { runId } = record.value
      const was = find(before, runId)
      const ended = record.$case === 'runEnded' && was && endedRun(was, record.value, seq)
      return { changed: find(after, runId) ?? (ended || undefined), removedRunIds: [] }
    }
    default:
      return { changed: undefined, removedRunIds: [] }
  }
}

/** The runs that end with a record. Those that are deleted unfinished count as interrupted. */
function overBy(record: RecordOf, before: ThreadState, after: ThreadState, seq: number): RunRow[] {
  if (before.runs === after.runs) return []
  const left = new Set(after.runs.map(({ runId }) => runId))
  const gone = before.runs.filter(({ runId }) => !left.has(runId))
  if (gone.length === 0) return []
  if (record.$case === 'runEnded') return gone.map((run) => endedRun(run, record.value, seq))
  const { atMs } = record.value as Payload<'runDeleted' | 'headMoved' | 'threadDeleted'>
  return gone.map((run) => ({ ...run, status: 'interrupted' satisfies RunStatus,
    updatedAtMs: Math.max(run.updatedAtMs, atMs) })
  )
}
