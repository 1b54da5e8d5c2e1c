/** Unfinished runs as the thread's row keeps them: what changed since the log created them. */

import type { RunRow, ThreadRow, UnfinishedRun } from '../../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import { planOf } from './run-request.ts'
import { isMessage } from './waiting-message.ts'

type RunCreated = Extract<RecordOf, { $case: 'runCreated' }>['value']

/** A run as the row of its thread names it. */
export function unfinishedOf(run: RunRow): UnfinishedRun {
  const { runId, createdSeq, updatedAtMs, status, started, startedAtMs, attempt, baseCheckpointId,
    firstSeq, notBeforeMs, kwargsJson, ownerDeaths, suspect, starts, spentMs, revision } = run
  return { runId, createdSeq, updatedAtMs, status, started, startedAtMs, attempt, baseCheckpointId,
    firstSeq, notBeforeMs, inputCharacters: kwargsJson.length, ownerDeaths, suspect, starts,
    spentMs, ...revision !== undefined ? { revision } : wantedBy(run),
    ...isMessage(run) && { injects: true } }
}

/**
 * The status by which runs are cancelled together. A run that was handed back, such as for
 * messages, is about to continue.
 */
export function statusToCancel({ started }: Pick<RunRow, 'started'>): 'pending' | 'running' {
  return started ? 'running' : 'pending'
}

/** Few callers name a revision. The plans of all other runs need not be parsed for this. */
function wantedBy(run: RunRow): Pick<UnfinishedRun, 'wantedRevision'> {
  if (!run.planJson.includes('"revision"')) return {}
  const { revision: wantedRevision } = planOf(run)
  return wantedRevision === undefined ? {} : { wantedRevision }
}

/** A run as it is when row `seq` of its thread's log creates it. */
export function newRun(thread: ThreadRow, { atMs, opening: _, ...created }: RunCreated,
  seq: number): RunRow {
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
