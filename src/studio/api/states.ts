/** States of a thread: its steps, and what each left behind. */

import { ask, post } from './client.ts'
import type { JsonObject } from './client.ts'
import type { Interrupt } from './threads.ts'

/** A node that ran or would run. */
export interface StateTask {
  readonly id: string
  readonly name: string
  /** `__pregel_pull` first if the state called it, `__pregel_push` if another node did. */
  readonly path?: readonly unknown[]
  readonly error?: unknown
  readonly interrupts?: readonly Interrupt[]
  readonly result?: unknown
}

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
export interface ThreadState {
  readonly values?: JsonObject | null
  readonly next?: readonly string[]
  readonly tasks?: readonly StateTask[]
  readonly metadata?: StepMetadata | null
  readonly created_at?: string | null
  readonly checkpoint_id?: string | null
  readonly parent_checkpoint_id?: string | null
  /** Sizes of the values that the step wrote, in bytes by channel. */
  readonly channels?: Readonly<Record<string, number>>
  /**
   * Position of each slice in its list: the place of its first entry, and the length of the list.
   */
  readonly slices?: Readonly<Record<string, { readonly from: number; readonly total: number }>>
}

/** A state by its checkpoint; the newest one without it. `select` names what is answered. */
export function stateAt(threadId: string, checkpointId: string | undefined,
  select?: readonly string[], signal?: AbortSignal): Promise<ThreadState> {
  const query = new URLSearchParams({ ...select && { select: select.join(',') } })
  const place = checkpointId === undefined ? '' : `/${checkpointId}`
  return ask(`/threads/${threadId}/state${place}?${query}`, { signal })
}

/** Steps, newest first, never with their values. */
const lean = ['checkpoint_id', 'parent_checkpoint_id', 'metadata.step', 'metadata.source',
  'metadata.run_id', 'metadata.run_attempt', 'metadata.run_starts', 'metadata.graph_id', 'next',
  'tasks.lean', 'channels', 'created_at'] as const

/** A page of lean steps before a checkpoint. */
export const historyPage = (threadId: string, before: string | undefined, limit: number,
  signal?: AbortSignal) =>
  post<ThreadState[]>(`/threads/${threadId}/history`, { limit, select: lean,
    ...before !== undefined && { before: { configurable: { checkpoint_id: before } } } }, signal)

/** Writes values as a node would, at a checkpoint or at the newest one. */
export const writeState = (threadId: string, body: {
  readonly values: JsonObject | null
  readonly as_node?: string | undefined
  readonly checkpoint_id?: string | undefined
}) => post<{ checkpoint: { checkpoint_id: string } }>(`/threads/${threadId}/state`, body)
