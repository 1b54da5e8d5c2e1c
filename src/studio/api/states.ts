/** States of a thread: its steps, and what each left behind. */

import type { ReadHistory, ThreadState as FoundState } from '../../api/index.ts'
import { ask } from './ask.ts'
import type { JsonObject } from './client.ts'

export type { StateTask } from '../../api/index.ts'

/** Origin of a step: its kind, its run and its attempt. */
export interface StepMetadata {
  readonly step?: number
  /** `input`: what a run was given; `loop`: a superstep; `update`: an edit; `fork`: a copy. */
  readonly source?: 'input' | 'loop' | 'update' | 'fork'
  readonly run_id?: string
  /** 2 and more if a worker died under the run. */
  readonly run_attempt?: number
  /** 2 and more if the run was started again, whatever ended the start before. */
  readonly run_starts?: number
  readonly graph_id?: string
  readonly [key: string]: unknown
}

/** A state, or what `select` named of it. */
export interface ThreadState extends Omit<FoundState, 'values' | 'metadata'> {
  readonly values?: JsonObject | null
  readonly metadata?: StepMetadata | null
}

/** A state by its checkpoint; the newest one without it. `select` names what is answered. */
export function stateAt(threadId: string, checkpointId: string | undefined,
  select?: readonly string[], signal?: AbortSignal): Promise<ThreadState> {
  const query = { ...select && { select } }
  const found = checkpointId === undefined
    ? ask('GET /threads/:thread_id/state', { params: { thread_id: threadId }, query, signal })
    : ask('GET /threads/:thread_id/state/:checkpoint_id', {
      params: { thread_id: threadId, checkpoint_id: checkpointId },
      query,
      signal,
    })
  return found as Promise<ThreadState>
}

/** Steps, newest first, never with their values. */
const lean = ['checkpoint_id', 'parent_checkpoint_id', 'metadata.step', 'metadata.source',
  'metadata.run_id', 'metadata.run_attempt', 'metadata.run_starts', 'metadata.graph_id',
  'metadata.langgraph_auth_user_id', 'next', 'tasks.lean', 'channels', 'created_at'] as const

/** States of a thread, newest first. */
export const historyOf = (threadId: string, body: ReadHistory, signal?: AbortSignal) =>
  ask('POST /threads/:thread_id/history', { params: { thread_id: threadId }, body,
    signal }) as Promise<readonly ThreadState[]>

/** A page of lean steps before a checkpoint. */
export const historyPage = (threadId: string, before: string | undefined, limit: number,
  signal?: AbortSignal) =>
  historyOf(threadId, { limit, select: lean,
    ...before !== undefined && { before: { configurable: { checkpoint_id: before } } } }, signal)

/** Writes values as a node would, at a checkpoint or at the newest one. */
export const writeState = (threadId: string, body: {
  readonly values: JsonObject | null
  readonly as_node?: string | undefined
  readonly checkpoint_id?: string | undefined
}) => ask('POST /threads/:thread_id/state', { params: { thread_id: threadId }, body })
