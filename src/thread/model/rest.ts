/**
 * The rest of a thread: the wait at its head, and the end of its last run. Every record that moves
 * the head, writes on it or ends a run passes through here, and readers use the row. Pure. Rule:
 * [head_rest].
 */

import type { Writes } from '../../../proto/gen/storage/v1/log.ts'
import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { WaitingPlace } from '../../../proto/gen/storage/v1/waiting.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { interruptsAfter, raisesInterrupt } from '../../graph/index.ts'
import { listOf, objectIn } from '../../json/index.ts'
import type { RunStatus, ThreadStatus } from '../../search/index.ts'

/** The fields of a thread's row that follow its head. */
export type Rest = Pick<ThreadRow,
  | 'resting'
  | 'errorJson'
  | 'interruptsJson'
  | 'waitingAt'
  | 'waits'>

type Payload<Case extends RecordOf['$case']> = Extract<RecordOf, { $case: Case }>['value']

/** The rest at a checkpoint on which no task has raised an interrupt. */
const nothingWaits: Rest = { resting: 'idle', errorJson: '', interruptsJson: '{}',
  waitingAt: undefined, waits: undefined }

/** Returns the interrupts of all tasks. */
export function questionsIn({ interruptsJson }: Pick<Rest, 'interruptsJson'>): readonly unknown[] {
  // This is so with nearly all threads.
  if (interruptsJson === '' || interruptsJson === '{}') return []
  return Object.values(objectIn(interruptsJson)).flatMap(listOf)
}

/** True if a thread has open interrupts. */
export function hasQuestions(rest: Pick<Rest, 'interruptsJson'>): boolean {
  return questionsIn(rest).length > 0
}

/**
 * Returns the open interrupts of a thread. A thread with a run in progress or due has none. A
 * message that waits for the run which resumes the thread is not due.
 */
export function openInterrupts(
  row: Pick<ThreadRow, 'status' | 'interruptsJson' | 'unfinished'>,
): readonly unknown[] {
  const { status, unfinished } = row
  const areWaiting = unfinished.length > 0
    && unfinished.every((run) => !run.started && (run.notBeforeMs > 0 || run.injects))
  const isBusy = status === ('busy' satisfies ThreadStatus) && !areWaiting
  return isBusy ? [] : questionsIn(row)
}

/** True if an answer, or a run without input, continues the tasks of the head. */
function isWaiting(rest: Rest): boolean {
  return rest.waits === true || hasQuestions(rest)
}

/** The rest as a run that starts finds it. A rollback of the run returns to it. */
export function restOf({ resting, errorJson, interruptsJson, waitingAt, waits }: Rest): Rest {
  return { resting, errorJson, interruptsJson, waitingAt, waits }
}

/**
 * The row that an older version wrote: it kept the rest before the run until the run ended, and its
 * status alone specified whether tasks come next.
 */
export function withRest(row: ThreadRow, runs: readonly RunRow[]): ThreadRow {
  const started = runs.find((run) => run.started)
  const waits = row.waits ?? (row.resting === 'interrupted' || undefined)
  if (!started || row.restBefore) return { ...row, waits }
  const restBefore = { ...restOf(row), waits }
  const isUntouched = (row.head?.id ?? '') === started.baseCheckpointId
  return { ...row, ...isUntouched ? { waits } : nothingWaits, restBefore }
}

/** The head is a new checkpoint of a run. */
export function restAtCheckpoint(row: ThreadRow): Partial<Rest> {
  const isKnown = row.resting === 'idle' && row.errorJson === '' && row.interruptsJson === '{}'
    && !row.waitingAt && !row.waits
  return isKnown ? {} : nothingWaits
}

/** A task has written on a checkpoint. Undefined if the rest stays as it is. */
export function restAfterWrites(row: ThreadRow, writes: Writes, runs: readonly RunRow[]):
  | Partial<Rest>
  | undefined {
  if (writes.ns !== '' || writes.checkpointId !== row.head?.id) return undefined
  // This is so with nearly all writes.
  if (row.interruptsJson === '{}' && !raisesInterrupt(writes)) return undefined
  const asked = interruptsAfter(writes)
  if (!asked) return undefined
  const { [writes.taskId]: _, ...others } = objectIn(row.interruptsJson)
  const interrupts = asked.length === 0 ? others : { ...others, [writes.taskId]: asked }
  const { revision } = runs.find((run) => run.started) ?? {}
  return { interruptsJson: JSON.stringify(interrupts),
    ...revision !== undefined && asked.length > 0 && { waitingAt: { revision, nodes: [] } } }
}

/**
 * A run has ended. The wait at the head stays if the run did not succeed, but with open interrupts
 * that is not the wait of this run.
 */
export function restAfterRun(row: ThreadRow,
  { status, waiting, errorJson, interruptsJson, waitingAt }: Payload<'runEnded'>): Rest {
  const wait = status !== ('success' satisfies RunStatus)
    ? { ...restOf(row), ...hasQuestions(row) && { waits: undefined } }
    : waitFor(row, { waiting, interruptsJson, waitingAt })
  const hasFailed = status === ('error' satisfies RunStatus)
    || status === ('timeout' satisfies RunStatus)
  return { ...wait, errorJson, resting: hasFailed ? 'error' : statusOf(wait) }
}

/** The state was edited outside a run. */
export function restAfterEdit(row: ThreadRow, edited: Payload<'stateEdited'>): Rest {
  const wait = waitFor(row, edited)
  return { ...wait, errorJson: '', resting: statusOf(wait) }
}

/** The wait that a run or an edit found at the head. Nodes that it could not name stay. */
function waitFor(row: ThreadRow,
  { waiting, interruptsJson, waitingAt }: { readonly waiting: boolean;
    readonly interruptsJson: string; readonly waitingAt?: WaitingPlace | undefined }): Rest {
  return { ...nothingWaits, interruptsJson: interruptsJson || '{}', waits: waiting || undefined,
    waitingAt: waitingAt ?? (waiting ? row.waitingAt : undefined) }
}

function statusOf(rest: Rest): Exclude<ThreadStatus, 'busy'> {
  return isWaiting(rest) ? 'interrupted' : 'idle'
}
