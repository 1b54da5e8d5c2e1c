/** Threads, as the API has them, and the calls about them. */

import type { FoundThread, SearchThreads, Thread as WholeThread } from '../../api/index.ts'
import { ask, askPage } from './ask.ts'
import type { JsonObject } from './client.ts'

export type { Interrupt } from '../../api/index.ts'

/** `busy`: a run is pending or running; `interrupted`: it waits for a person. */
export type ThreadStatus = WholeThread['status']

/** A thread as the calls of this page select it: always with what names and dates it. */
export type Thread =
  & Omit<FoundThread, 'metadata' | 'values'>
  & Pick<WholeThread, 'thread_id' | 'created_at' | 'updated_at' | 'status'>
  & { readonly metadata: JsonObject; readonly values?: JsonObject | null }

/** Conditions that threads must meet. */
export type ThreadFilter = {
  readonly [Name in 'q' | 'status' | 'metadata' | 'ids' | 'updated_after' | 'updated_before']?:
    | NonNullable<SearchThreads[Name]>
    | undefined
}

/** Fields that Studio shows of a thread: never its values, which may be large. */
export const threadColumns = ['thread_id', 'created_at', 'updated_at', 'metadata', 'status',
  'interrupts', 'error'] as const

/** One thread without its values. Throws ApiError, `not_found` too. */
export const threadOf = (id: string, signal?: AbortSignal) =>
  ask('GET /threads/:thread_id', { params: { thread_id: id }, query: { select: threadColumns },
    signal }) as Promise<Thread>

/** A page of threads, and how many there are. */
export async function searchThreads(body: SearchThreads,
  signal?: AbortSignal): Promise<{ readonly rows: readonly Thread[]; readonly total: number }> {
  const { data, headers } = await askPage('POST /threads/search', { body, signal })
  return { rows: data as readonly Thread[], total: Number(headers.get('x-pagination-total')) }
}

/** Resolves with the number of matching threads by status. */
export const countByStatus = (filter: ThreadFilter, signal?: AbortSignal) =>
  ask('POST /threads/count', { body: { ...filter, by: 'status' }, signal }) as Promise<
    Readonly<Record<ThreadStatus, number>>
  >

/** Resolves with the number of matching threads. */
export const countThreads = (filter: ThreadFilter, signal?: AbortSignal) =>
  ask('POST /threads/count', { body: filter, signal }) as Promise<number>

/** Makes a thread with the given metadata. */
export const createThread = (metadata: JsonObject = {}) =>
  ask('POST /threads', { body: { metadata } }) as Promise<Thread>

/** Merges metadata into those of a thread. */
export const patchThread = (id: string, metadata: JsonObject) =>
  ask('PATCH /threads/:thread_id', { params: { thread_id: id }, body: { metadata } })

/** Deletes a thread with its runs. */
export const deleteThread = (id: string) =>
  ask('DELETE /threads/:thread_id', { params: { thread_id: id } })

/** Copies a thread, up to a checkpoint if one is named. */
export const copyThread = (id: string, checkpointId?: string) =>
  ask('POST /threads/:thread_id/copy', { params: { thread_id: id },
    body: checkpointId === undefined ? {} : { checkpoint_id: checkpointId } }) as Promise<Thread>
