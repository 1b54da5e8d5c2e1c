/** Messages for a run, which are runs in the queue of their thread until a run takes them. Pure. */

import type { RunRow, ThreadRow } from '../../../proto/gen/storage/v1/row.ts'
import { listOf, objectIn } from '../../json/index.ts'
import { planOf } from './run-request.ts'

/** The part of a thread's state that decides whether messages wait for a resume. */
interface MessageQueue {
  readonly runs: readonly RunRow[]
  readonly resting: string
  readonly row: Pick<ThreadRow, 'interruptsJson'>
}

/** True for a message that no run has taken, and that is not executed as a run of its own. */
export function isMessage(run: RunRow): boolean {
  // Nearly all plans are of other runs, and need not be parsed for this.
  return !run.started && run.status === 'pending' && run.planJson.includes('"injects"')
    && planOf(run).injects === true
}

/** True if a thread or a run has open interrupts. */
export function hasQuestions({ interruptsJson }: Pick<ThreadRow, 'interruptsJson'>): boolean {
  return Object.values(objectIn(interruptsJson || '{}'))
    .some((questions) => listOf(questions).length > 0)
}

/**
 * The unfinished runs of a thread without the messages that wait for a resume. A message that the
 * interrupted run could not take is for the run that resumes the thread: as a run of its own it
 * would drop the interrupt, and repeat the effects before it.
 */
export function activeRuns(thread: MessageQueue): readonly RunRow[] {
  const { runs, resting, row } = thread
  const mayWait = resting === 'interrupted' && runs.some(isMessage) && hasQuestions(row)
  return mayWait ? runs.filter((run) => !isMessage(run)) : runs
}
