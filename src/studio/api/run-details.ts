/** Details of a run: its log, the errors that it failed with, and how to run it again. */

import type { RunLogs } from '../../api/index.ts'
import { ask } from './ask.ts'
import { attemptOf } from './attempt.ts'
import { historyOf } from './states.ts'
import type { StateTask } from './states.ts'

/** A line that the code of a graph wrote to the console or to its logger. */
export type LogLine = RunLogs['lines'][number]

/** Resolves with at most 1 000 lines of the log of a run, after a line if one is named. */
export const logsOf = (threadId: string, runId: string, after?: number, signal?: AbortSignal) =>
  ask('GET /threads/:thread_id/runs/:run_id/logs', {
    params: { thread_id: threadId, run_id: runId },
    query: { limit: 1_000, after },
    signal,
  })

/** The last step that a run made. */
export interface LastStep {
  readonly checkpointId: string | null
  /** 2 and more if the run began again after a failure of its server. */
  readonly attempt: number
  readonly tasks: readonly StateTask[]
}

/** The last step of a run; null if it made none. */
export async function lastStepOf(threadId: string, runId: string,
  signal?: AbortSignal): Promise<LastStep | null> {
  const [last] = await historyOf(threadId, { limit: 1, metadata: { run_id: runId },
    select: ['checkpoint_id', 'metadata.run_attempt', 'metadata.run_starts', 'tasks.lean'] },
    signal)
  if (last === undefined) return null
  return { checkpointId: last.checkpoint_id ?? null, attempt: attemptOf(last.metadata),
    tasks: last.tasks ?? [] }
}
