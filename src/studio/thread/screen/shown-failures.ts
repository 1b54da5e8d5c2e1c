/** Failures that the page of a thread shows: of the step that is looked at, or of the last run. */

import { failuresOf, runFailure } from '../../failures/failure.ts'
import type { Failure } from '../../failures/failure.ts'
import type { ThreadState } from '../../api/states.ts'
import type { Thread } from '../../api/threads.ts'
import type { LiveRun } from '../../live/live-run.ts'

/** State of the step that is shown, and what is known of the last run where that is now. */
export interface FailurePlace {
  readonly shown: ThreadState | undefined
  readonly isNow: boolean
  readonly isBusy: boolean
  readonly thread: Pick<Thread, 'status' | 'error'> | undefined
  readonly live: Pick<LiveRun, 'error' | 'nodes'> | undefined
}

/** An answer that came too late: the chat says so in words of its own. */
const lateAnswer = 'UnknownInterruptError'

/**
 * The failures, in the order of the tasks. The stored ones count; until they are read, the error
 * that the run was seen to end with.
 */
export function failuresShown(
  { shown, isNow, isBusy, thread, live }: FailurePlace,
): readonly Failure[] {
  if (isNow && isBusy) return []
  const stored = failuresOf(shown)
  if (!isNow || stored.length > 0) return stored
  const seen = live?.error?.error === lateAnswer ? undefined : live?.error
  const node = Object.entries(live?.nodes ?? {}).find(([, { state }]) => state === 'failed')?.[0]
  const failure = runFailure(seen, node) ??
    (thread?.status === 'error' && live?.error === undefined ? runFailure(thread.error) : undefined)
  return failure === undefined ? [] : [failure]
}
