/**
 * The port for finding threads: by id, by metadata and status, and counts. Never scans all threads.
 */

import type { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import type { Thread } from '../api/index.ts'
import type { MetadataFilter } from './metadata-filter.ts'

/** Status of a thread. `busy`: a run is pending or running. */
export type ThreadStatus = Thread['status']

/** Column by which a search sorts; equal rows are sorted by id. */
export type ThreadSort = 'thread_id' | 'status' | 'created_at' | 'updated_at' | 'state_updated_at'

/**
 * A filter. Every condition must hold. Metadata is containment: scalars equal, objects recursive.
 */
export interface ThreadFilter {
  readonly tenant: string
  readonly ids?: readonly string[]
  readonly status?: ThreadStatus
  readonly metadata?: Readonly<Record<string, unknown>>
  /** Only threads that the caller may see; all by default. */
  readonly allowed?: MetadataFilter | undefined
  /** Threads of stateless runs, which are not listed, instead of all others. Not with metadata. */
  readonly hidden?: boolean
  /** Leaves out threads whose time to live has ended by then. */
  readonly expiredBy?: number
  /** Words that must all occur in what the thread is about, as `wordsOf` makes them. */
  readonly words?: readonly string[] | undefined
  /** Updated later than this. */
  readonly updatedAfterMs?: number | undefined
  /** Updated earlier than this. */
  readonly updatedBeforeMs?: number | undefined
}

/** Sort value of a thread, and its id. The place stays the same when other threads are made. */
export interface ThreadPlace {
  readonly value: string | number
  readonly id: string
}

/** A page of a search. */
export interface ThreadQuery extends ThreadFilter {
  readonly sortBy: ThreadSort
  readonly sortOrder: 'asc' | 'desc'
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
  /** Only threads behind this place; the total counts those before it as well. */
  readonly after?: ThreadPlace | undefined
  /**
   * Bytes that the rows may have. A longer page throws `too_large`, with `bytes` in its details.
   */
  readonly bytes?: number
}

/**
 * A thread that an earlier owner left `busy`, hidden, or with webhooks to send. The owner must wake
 * it, unless all its runs wait for their time.
 */
export interface UnfinishedThread {
  readonly tenant: string
  readonly threadId: string
}

/** A thread that sleeps until it is due: the first of its delayed runs, or its own end. */
export interface DueThread extends UnfinishedThread {
  readonly atMs: number
  /** Its place among those that are due at the same time. */
  readonly no: number
}

/** Sleeping threads after the given place, at most `limit`, the one that is due first in front. */
export type DueThreads = (after: Pick<DueThread, 'atMs' | 'no'>,
  limit: number) => Promise<readonly DueThread[]>

/**
 * Finds threads of a member or a store. Hidden ones (of stateless runs) are found only by `get`, or
 * by a query for hidden ones.
 */
export interface ThreadIndex extends ThreadSearch {
  /** The newest row of a thread; undefined if there is none. */
  get(tenant: string, threadId: string): Promise<ThreadRow | undefined>
}

/** Searches threads. A store answers for its rows, a scattered index for all members. */
export interface ThreadSearch {
  /** One page, and the number of all threads that match. */
  search(query: ThreadQuery, cancelled?: AbortSignal): Promise<{ rows: ThreadRow[]; total: number }>
  /** The number of threads that match. */
  count(filter: ThreadFilter, cancelled?: AbortSignal): Promise<number>
}
