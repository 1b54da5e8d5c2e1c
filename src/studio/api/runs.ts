/** Runs, as the API has them, and the calls about them. */

import type { CreateRun, Run as WholeRun, RunOfTenant } from '../../api/index.ts'
import { ask } from './ask.ts'
import type { JsonObject } from './client.ts'

/** Status of a run; `interrupted` is one that somebody cancelled. */
export type RunStatus = WholeRun['status']

/** A run as the calls of this page select it: always with what names and dates it. */
export type Run =
  & Omit<RunOfTenant, 'metadata' | 'kwargs'>
  & Pick<WholeRun, 'run_id' | 'thread_id' | 'assistant_id' | 'created_at' | 'updated_at' | 'status'>
  & { readonly metadata?: JsonObject; readonly kwargs?: JsonObject }

/** True if a run has ended, however. */
export const isOver = ({ status }: Pick<Run, 'status'>): boolean =>
  status !== 'pending' && status !== 'running'

/** Handling of a new run while its thread is busy. */
export type Multitask = WholeRun['multitask_strategy']

/** Body that starts a run. */
export type RunStart = CreateRun

/** Starts a run, or puts it into the queue of its thread. It goes on whoever listens. */
export const createRun = (threadId: string, start: RunStart) =>
  ask('POST /threads/:thread_id/runs', { params: { thread_id: threadId }, body: start }) as Promise<
    Run
  >

/** Runs of a thread, newest first. */
export const runsOf = (threadId: string, limit: number, offset = 0, signal?: AbortSignal) =>
  // They have all fields, since the call selects none.
  ask('GET /threads/:thread_id/runs', { params: { thread_id: threadId }, query: { limit, offset },
    signal }) as Promise<readonly Run[]>

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
