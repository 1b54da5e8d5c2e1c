/** Runs, as the API has them, and the calls about them. */

import { ask, post, send } from './client.ts'
import type { JsonObject } from './client.ts'

/** Status of a run; `interrupted` is one that somebody cancelled. */
export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'interrupted' | 'timeout'

/** A run, or what `select` named of it. */
export interface Run {
  readonly run_id: string
  readonly thread_id: string
  readonly assistant_id: string
  readonly graph_id?: string
  readonly created_at: string
  readonly updated_at: string
  readonly status: RunStatus
  readonly metadata?: JsonObject
  readonly multitask_strategy?: Multitask
  readonly kwargs?: JsonObject
}

/** True if a run has ended, however. */
export const isOver = ({ status }: Pick<Run, 'status'>): boolean =>
  status !== 'pending' && status !== 'running'

/** Handling of a new run while its thread is busy. */
export type Multitask = 'enqueue' | 'interrupt' | 'rollback' | 'reject'

/** Body that starts a run. */
export interface RunStart {
  readonly assistant_id: string
  readonly input?: unknown
  readonly command?: { readonly resume: unknown }
  readonly checkpoint_id?: string | undefined
  readonly multitask_strategy?: Multitask | undefined
  readonly [setting: string]: unknown
}

/** Starts a run, or puts it into the queue of its thread. It goes on whoever listens. */
export const createRun = (threadId: string, start: RunStart) =>
  post<Run>(`/threads/${threadId}/runs`, start)

/** Runs of a thread, newest first. */
export const runsOf = (threadId: string, limit: number, offset = 0, signal?: AbortSignal) =>
  ask<Run[]>(`/threads/${threadId}/runs?limit=${limit}&offset=${offset}`, { signal })

/** Ends a run: `interrupt` keeps its steps, `rollback` removes them. */
export const cancelRun = (threadId: string, runId: string,
  action: 'interrupt' | 'rollback' = 'interrupt') =>
  send(`/threads/${threadId}/runs/${runId}/cancel?action=${action}`, { method: 'POST', body: {} })

/** Deletes a run that is over. */
export const deleteRun = (threadId: string, runId: string) =>
  send(`/threads/${threadId}/runs/${runId}`, { method: 'DELETE' })
