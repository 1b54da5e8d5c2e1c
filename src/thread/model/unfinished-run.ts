/** Unfinished runs as the thread's row keeps them: what changed since the log created them. */

import type { RunRow, ThreadRow, UnfinishedRun } from '../../../proto/gen/storage/v1/row.ts'
import { decodeRow } from '../../checkpoint/index.ts'
import type { LogPort, RecordOf } from '../../checkpoint/index.ts'
import { assert } from '../../errors.ts'

type RunCreated = Extract<RecordOf, { $case: 'runCreated' }>['value']

/** A run as the row of its thread names it. */
export function unfinishedOf(run: RunRow): UnfinishedRun {
  const { runId, createdSeq, updatedAtMs, status, started, startedAtMs, attempt, baseCheckpointId,
    firstSeq, notBeforeMs, kwargsJson, ownerDeaths, suspect } = run
  return { runId, createdSeq, updatedAtMs, status, started, startedAtMs, attempt, baseCheckpointId,
    firstSeq, notBeforeMs, inputCharacters: kwargsJson.length, ownerDeaths, suspect }
}

/** A run as it is when row `seq` of its thread's log creates it. */
export function newRun(thread: ThreadRow, { atMs, ...created }: RunCreated, seq: number): RunRow {
  return {
    ...created,
    tenant: thread.tenant,
    threadId: thread.threadId,
    createdAtMs: atMs,
    updatedAtMs: atMs,
    status: 'pending',
    attempt: 0,
    baseCheckpointId: '',
    started: false,
    startedAtMs: 0,
    ownerDeaths: 0,
    suspect: false,
    errorJson: '',
    finalCheckpointId: '',
    interruptsJson: '',
    createdSeq: seq,
    firstSeq: seq,
    lastSeq: seq,
  }
}

/** The runs that a thread's row names: created by the log, brought up to date by the row. */
export function unfinishedRuns(log: LogPort, thread: ThreadRow): Promise<RunRow[]> {
  return Promise.all(thread.unfinished.map(async (unfinished) => {
    const { inputCharacters: _, ...changes } = unfinished
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
