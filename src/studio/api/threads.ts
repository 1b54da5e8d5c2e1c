/** Threads, as the API has them, and the calls about them. */

import { queryOptions } from '@tanstack/react-query'

import type { Answered, Interrupt, SearchThreads, Selected,
  Thread as WholeThread } from '../../api/index.ts'
import { ask, askSelected } from './ask.ts'
import type { JsonObject } from './client.ts'
import { pollEvery } from './poll.ts'

export type { Interrupt }

/** `busy`: a run is pending or running; `interrupted`: it waits for a person. */
export type ThreadStatus = WholeThread['status']

/** Conditions that threads must meet. */
export type ThreadFilter = {
  readonly [Name in 'q' | 'status' | 'metadata' | 'ids' | 'updated_after' | 'updated_before']?:
    | NonNullable<SearchThreads[Name]>
    | undefined
}

/** Fields that Studio shows of a thread: never its values, which may be large. */
const columns = ['thread_id', 'created_at', 'updated_at', 'metadata', 'status', 'interrupts',
  'error'] as const

/** A thread as Studio shows it, and what a search extracted from it. */
export type Thread = Selected<'GET /threads/:thread_id', typeof columns[number]>

/** One thread without its values. Throws ApiError, `not_found` too. */
export async function threadOf(id: string, signal?: AbortSignal): Promise<Thread> {
  const { data } = await askSelected('GET /threads/:thread_id', columns, {
    params: { thread_id: id },
    signal,
  })
  return data
}

/** A page of threads, and how many there are. */
export async function searchThreads(body: Omit<SearchThreads, 'select'>,
  signal?: AbortSignal): Promise<{ readonly rows: readonly Thread[]; readonly total: number }> {
  const { data, headers } = await askSelected('POST /threads/search', columns, { body, signal })
  return { rows: data, total: Number(headers.get('x-pagination-total')) }
}

/** Open interrupts of a thread. A busy thread has none, because its run may answer them. */
export const questionsOf = (
  { status, interrupts }: Pick<Thread, 'status' | 'interrupts'>,
): readonly Interrupt[] => status === 'busy' ? [] : Object.values(interrupts ?? {}).flat()

/**
 * Number of failed threads that are searched for open interrupts, the newest first. The index has
 * no field for open interrupts: an old member of a rolling upgrade would ignore a filter on the
 * field and return all failed threads.
 */
const failedMax = 100

/** Resolves with the threads whose last run failed and left an interrupt open, longest first. */
export async function failedAndWaiting(signal?: AbortSignal): Promise<readonly Thread[]> {
  const { rows } = await searchThreads({ status: 'error', limit: failedMax, sort_by: 'updated_at',
    sort_order: 'desc' }, signal)
  return rows.filter((thread) => questionsOf(thread).length > 0).toReversed()
}

/** The query of threads whose last run failed and left an interrupt open. */
export const failedQuery = queryOptions({
  queryKey: ['threads', 'failed and waiting'],
  queryFn: ({ signal }) => failedAndWaiting(signal),
  refetchInterval: pollEvery(15_000),
})

/** Numbers of threads by their status. */
type CountByStatus = Exclude<Answered<'POST /threads/count'>, number>

/** The query of the numbers of matching threads by status. */
export const countsQuery = (filter: ThreadFilter) =>
  queryOptions({
    queryKey: ['threads', 'states', filter],
    queryFn: ({ signal }) =>
      ask('POST /threads/count', { body: { ...filter, by: 'status' }, signal }) as Promise<
        CountByStatus
      >,
    refetchInterval: pollEvery(15_000),
  })

/** Resolves with the number of matching threads. */
export const countThreads = async (filter: ThreadFilter, signal?: AbortSignal) =>
  Number(await ask('POST /threads/count', { body: filter, signal }))

/** Makes a thread with the given metadata. */
export const createThread = (metadata: JsonObject = {}): Promise<Thread> =>
  ask('POST /threads', { body: { metadata } })

/** Merges metadata into those of a thread. */
export const patchThread = (id: string, metadata: JsonObject) =>
  ask('PATCH /threads/:thread_id', { params: { thread_id: id }, body: { metadata } })

/** Deletes a thread with its runs. */
export const deleteThread = (id: string) =>
  ask('DELETE /threads/:thread_id', { params: { thread_id: id } })

/** Copies a thread, up to a checkpoint if one is named. */
export const copyThread = (id: string, checkpointId?: string): Promise<Thread> =>
  ask('POST /threads/:thread_id/copy', { params: { thread_id: id },
    body: checkpointId === undefined ? {} : { checkpoint_id: checkpointId } })
