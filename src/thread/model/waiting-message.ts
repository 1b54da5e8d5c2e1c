/** Messages for a run, which are runs in the queue of their thread until a run takes them. Pure. */

import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import type { ThreadStatus } from '../../search/index.ts'
import { hasQuestions } from './rest.ts'
import { planOf } from './run-request.ts'

/** True for a message that no run has taken, and that is not executed as a run of its own. */
export function isMessage(run: RunRow): boolean {
  // Nearly all plans are of other runs, and need not be parsed for this.
  return !run.started && run.status === 'pending' && run.planJson.includes('"injects"')
    && planOf(run).injects === true
}

/**
 * The unfinished runs of a thread without the messages that wait for a resume. A message that the
 * interrupted run could not take is for the run that resumes the thread: as a run of its own it
 * would drop the interrupt, and repeat the effects before it.
 */
export function activeRuns(
  { runs, row }: { readonly runs: readonly RunRow[];
    readonly row: Pick<ThreadRow, 'interruptsJson'> },
): readonly RunRow[] {
  const mayWait = runs.some(isMessage) && hasQuestions(row)
  return mayWait ? runs.filter((run) => !isMessage(run)) : runs
}

/** True if a run of the thread is in progress, due or delayed. */
export function isBusy({ row: { status } }: { readonly row: Pick<ThreadRow, 'status'> }): boolean {
  return status === ('busy' satisfies ThreadStatus)
}
