/** Threads, as the API has them, and the calls about them. */

import { ask, askPage, post } from './client.ts'
import type { JsonObject } from './client.ts'

/** `busy`: a run is pending or running; `interrupted`: it waits for a person. */
export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error'

/** A question of a graph. */
export interface Interrupt {
  readonly id: string
  readonly value: unknown
  /** JSON Schema of the answer, if the graph gave one. */
  readonly response_schema?: unknown
}

/** A thread, or what `select` named of it. */
export interface Thread {
  readonly thread_id: string
  readonly created_at: string
  readonly updated_at: string
  readonly metadata: JsonObject
  readonly status: ThreadStatus
  readonly values?: JsonObject | null
  /** By the id of the task that asks. */
  readonly interrupts?: Readonly<Record<string, readonly Interrupt[]>>
  readonly extracted?: Readonly<Record<string, unknown>>
  readonly error?: unknown
}

/** Conditions that threads must meet. */
export interface ThreadFilter {
  readonly q?: string | undefined
  readonly status?: ThreadStatus | undefined
  readonly metadata?: Readonly<Record<string, unknown>> | undefined
  readonly ids?: readonly string[] | undefined
  readonly updated_after?: string | undefined
  readonly updated_before?: string | undefined
}

/** Fields that Studio shows of a thread: never its values, which may be large. */
export const threadColumns = ['thread_id', 'created_at', 'updated_at', 'metadata', 'status',
  'interrupts', 'error'] as const

/** One thread without its values. Throws ApiError, `not_found` too. */
export const threadOf = (id: string, signal?: AbortSignal) =>
  ask<Thread>(`/threads/${id}?select=${threadColumns.join(',')}`, { signal })

/** A page of threads, and how many there are. */
export async function searchThreads(body: ThreadFilter & JsonObject | object,
  signal?: AbortSignal): Promise<{ readonly rows: readonly Thread[]; readonly total: number }> {
  const { data, headers } = await askPage<Thread[]>('/threads/search', { method: 'POST', body,
    signal })
  return { rows: data, total: Number(headers.get('x-pagination-total')) }
}

/** Resolves with the number of matching threads by status. */
export const countByStatus = (filter: ThreadFilter, signal?: AbortSignal) =>
  post<Record<ThreadStatus, number>>('/threads/count', { ...filter, by: 'status' }, signal)

/** Makes a thread with the given metadata. */
export const createThread = (metadata: JsonObject = {}) => post<Thread>('/threads', { metadata })

/** Merges metadata into those of a thread. */
export const patchThread = (id: string, metadata: JsonObject) =>
  ask<Thread>(`/threads/${id}`, { method: 'PATCH', body: { metadata } })

/** Deletes a thread with its runs. */
export const deleteThread = (id: string) => ask<null>(`/threads/${id}`, { method: 'DELETE' })

/** Copies a thread, up to a checkpoint if one is named. */
export const copyThread = (id: string, checkpointId?: string) =>
  post<Thread>(`/threads/${id}/copy`,
    checkpointId === undefined ? {} : { checkpoint_id: checkpointId })
