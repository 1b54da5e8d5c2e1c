/** End of a run, and its result as waiting clients get it. Never `null`. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { ExecutionOutcome } from '../../graph/index.ts'
import type { RunStatus } from '../../search/index.ts'
import { questionsIn } from '../model/rest.ts'
import { attemptsMax } from './run-queue.ts'

/** The end of a run, as its record shows it. */
export interface Ending {
  readonly status: RunStatus
  readonly waiting?: boolean
  readonly interruptsJson?: JsonText
  /** The state values as the graph gave them, if its checkpoint lacks some of them. */
  readonly values?: JsonText | undefined
  /** JSON object of the state values that no checkpoint contains. */
  readonly untracked?: JsonText | undefined
  readonly error?: { readonly error: string; readonly message: string }
  /** Place in the project at which the error was thrown. */
  readonly at?: string | undefined
  /** Nothing was executed: the thread stays as it was before the run. */
  readonly refused?: true
  /** Reason of the cancel, if the run was cancelled. */
  readonly cancelReason?: string | undefined
  /** The nodes that come next; undefined if none do, or if that is not known. */
  readonly waitsAt?: readonly string[] | undefined
  /** Namespaces of the subgraphs that asked, by interrupt id; undefined if the root asked all. */
  readonly askers?: Readonly<Record<string, string>> | undefined
}

/** The result of a run that failed or was rolled back. */
export function errorResult(errorJson: JsonText): JsonText {
  return `{"__error__":${errorJson}}`
}

/** Ending as an execution reported it. Undefined if it stopped before its end. */
export function endingOf(outcome: ExecutionOutcome): Ending | undefined {
  const { status, waiting, interrupts: interruptsJson, values, untracked, at, error, waitsAt,
    askers } = outcome
  if (status !== 'success' && status !== 'error') return undefined
  return { status, waiting, interruptsJson, values, untracked, at, waitsAt, askers,
    ...error && { error } }
}

/** The ends of runs that did not end by themselves. */
export const outOfMemory: Ending = { status: 'error',
  error: { error: 'OutOfMemory',
    message: 'The graph filled the memory of a worker that it had to itself.' } }
/** Workers died under the run as often as it may have attempts. */
export const outOfAttempts: Ending = { status: 'error',
  error: { error: 'WorkerCrashed', message: `The run's worker died ${attemptsMax} times.` } }
/** The run took longer than its plan allows. */
export const outOfTime: Ending = { status: 'timeout',
  error: { error: 'RunTimeout', message: 'The run took longer than its time limit.' } }

/** The error of a run that was rolled back, as JSON text. */
export const rolledBack: JsonText = JSON.stringify({
  error: 'RunRolledBack',
  message: 'The run was rolled back; what it wrote is gone.',
})

/** The error of a run whose thread was deleted under it, as JSON text. */
export const threadDeleted: JsonText = JSON.stringify({
  error: 'ThreadDeleted',
  message: 'The thread was deleted before the run had ended.',
})

/** The state values, with `__interrupt__` if the run waits for a human. */
export function runResult(run: RunRow, values: JsonText): JsonText {
  if (run.errorJson !== '') return errorResult(run.errorJson)
  // A task that waits at a breakpoint has an empty list of interrupts.
  const waits = run.interruptsJson !== '' && run.interruptsJson !== '{}'
  if (!waits) return values === 'null' ? '{}' : values
  const asked = `"__interrupt__":${JSON.stringify(questionsIn(run))}`
  if (!values.startsWith('{') || values === '{}') return `{${asked}}`
  return `${values.slice(0, -1)},${asked}}`
}
