/** Reads a thread: its row, and what the log says beyond it. */

import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { decodeRow } from '../../checkpoint/index.ts'
import type { LogPort } from '../../checkpoint/index.ts'
import { assert } from '../../errors.ts'
import { dueAtMs } from '../../limits/index.ts'
import type { ThreadIndex } from '../../search/index.ts'
import { runChanges } from '../model/run-changes.ts'
import { apply, fromRow, unborn } from '../model/thread-state.ts'
import type { ThreadState } from '../model/thread-state.ts'
import { newRun } from '../model/unfinished-run.ts'
import { RunRows } from './run-rows.ts'

/** The thread to read, the ports to read it from, and the epoch of the reader. */
export interface StoredThreadOptions {
  readonly ports: { readonly log: LogPort; readonly threads: Pick<ThreadIndex, 'get'> }
  readonly tenant: string
  readonly threadId: string
  readonly epoch: number
  /** Called before inputs of that length are read, if the thread could sleep on. May throw. */
  readonly reserve?: (characters: number) => void
}

/** A thread as it was found in the store. */
export interface StoredThread {
  readonly state: ThreadState
  /** The rows of runs that lag behind the log. */
  readonly lag: RunRows
  /** Only the log has the delete: the row of the thread does not say it. */
  readonly isNewlyDeleted: boolean
  /** An older version wrote the row: it does not say when delayed runs are due. */
  readonly lacksTimes: boolean
}

/** Undefined for a thread of which the store knows nothing. */
export async function storedThread(
  { ports: { log, threads }, tenant, threadId, epoch, reserve }: StoredThreadOptions,
): Promise<StoredThread | undefined> {
  const row = await threads.get(tenant, threadId)
  if (!row) return undefined
  if (dueAtMs(row.unfinished) > 0) reserve?.(inputCharactersOf(row))
  // A deleted thread's log may be gone already.
  if (log.shared && !row.deleted) await log.open(row.branch!, epoch)
  const rest = { from: row.seq + 1, through: Number.MAX_SAFE_INTEGER }
  const [unfinished, entries] = await Promise.all([unfinishedRuns(log, row),
    log.read(row.branch!, rest)])
  let state = fromRow(row, unfinished)
  const lag = new RunRows()
  // The row of a thread may be on disk before those of the runs that were created with it.
  for (const run of log.shared ? unfinished : []) {
    if (run.createdSeq === row.seq) lag.note({ changed: run, removedRunIds: [], ended: [] })
  }
  for (const entry of entries) {
    state = withBytes(state, entry.body.byteLength)
    for (const record of decodeRow(entry.body)) {
      const before = state
      state = apply(state, record, entry)
      lag.note(runChanges(record, before, state, entry.seq))
    }
  }
  return { state, lag, isNewlyDeleted: state.row.deleted && !row.deleted,
    lacksTimes: lacksTimes(row, unfinished) }
}

/** The thread before its first row. */
export function onNewBranch(
  { ports: { log }, tenant, threadId }: StoredThreadOptions,
): ThreadState {
  return unborn(tenant, threadId, { id: log.newBranchId(), ancestors: [] })
}

/** The state with the bytes of one more row. */
function withBytes(state: ThreadState, bytes: number): ThreadState {
  return { ...state, row: { ...state.row, storedBytes: state.row.storedBytes + bytes } }
}

function inputCharactersOf({ unfinished }: ThreadRow): number {
  return unfinished.reduce((sum, { inputCharacters }) => sum + inputCharacters, 0)
}

function lacksTimes({ unfinished }: ThreadRow, runs: readonly RunRow[]): boolean {
  return unfinished.some(({ notBeforeMs }, i) => notBeforeMs !== runs[i]!.notBeforeMs)
}

/** The runs that a thread's row names: created by the log, brought up to date by the row. */
function unfinishedRuns(log: LogPort, thread: ThreadRow): Promise<RunRow[]> {
  return Promise.all(thread.unfinished.map(async (unfinished) => {
    const { inputCharacters: _, wantedRevision: _wanted, ...changes } = unfinished
    const { createdSeq: seq, runId } = changes
    const [entry] = await log.read(thread.branch!, { from: seq, through: seq })
    const created = entry &&
      decodeRow(entry.body).find((record) =>
        record.$case === 'runCreated' && record.value.runId === runId
      )
    assert(created?.$case === 'runCreated', `row ${seq} of the log creates run ${runId}`)
    const { notBeforeMs } = created.value
    return { ...newRun(thread, created.value, seq), ...changes, notBeforeMs }
  }))
}
