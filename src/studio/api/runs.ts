/** Runs, as the API has them, and the calls about them. */

import type { CreateRun, Run as WholeRun, Selected } from '../../api/index.ts'
import { ask, askSelected } from './ask.ts'

/** Status of a run; `interrupted` is one that somebody cancelled. */
export type RunStatus = WholeRun['status']

/** Fields that Studio shows of a run wherever it lists runs. */
export const runColumns = ['run_id', 'thread_id', 'assistant_id', 'created_at', 'updated_at',
  'status', 'metadata', 'multitask_strategy', 'cancel_reason', 'revision'] as const

/** A run in a list, with its request if it is one of a thread that is open. */
export type Run =
  & Selected<'GET /threads/:thread_id/runs', typeof runColumns[number]>[number]
  & Partial<Pick<WholeRun, 'kwargs'>>

/** True if a run has ended, however. */
export const isOver = ({ status }: Pick<Run, 'status'>): boolean =>
  status !== 'pending' && status !== 'running'

/** Handling of a new run while its thread is busy. */
export type Multitask = WholeRun['multitask_strategy']

/** Body that starts a run. */
export type RunStart = CreateRun

/** Starts a run, or puts it into the queue of its thread. It goes on whoever listens. */
export const createRun = (threadId: string, start: RunStart): Promise<Run> =>
  ask('POST /threads/:thread_id/runs', { params: { thread_id: threadId }, body: start })

/** Runs of a thread with their requests, newest first. */
export async function runsOf(threadId: string, limit: number, offset = 0,
  signal?: AbortSignal): Promise<readonly Run[]> {
  const { data } = await askSelected('GET /threads/:thread_id/runs', [...runColumns, 'kwargs'], {
    params: { thread_id: threadId },
    query: { limit, offset },
    signal,
  })
  return data
}

/** Ends a run: `interrupt` keeps its steps, `rollback` removes them. */
export const cancelRun = (threadId: string, runId: string,
  action: 'interrupt' | 'rollback' = 'interrupt') =>
  ask('POST /threads/:thread_id/runs/:run_id/cancel', {
    params: { thread_id: threadId, run_id: runId },
    query: { action },
  })

/** Deletes a run that is over. */
export const deleteRun = (threadId: string, runId: string) =>
  ask('DELETE /threads/:thread_id/runs/:run_id', {
    params: { thread_id: threadId, run_id: runId },
  })
