/** The port for finding threads: by id, by metadata and status, and counts. Without a scan. */

import type { ThreadRow } from '../../proto/gen/storage/v1/row.ts'

/** Specification §3.1. `busy`: a run is pending or running. */
export type ThreadStatus = 'idle' | 'busy' | 'interrupted' | 'error'

export type ThreadSort = 'thread_id' | 'status' | 'created_at' | 'updated_at' | 'state_updated_at'

/** Every condition must hold. Metadata is containment: scalars equal, objects recursive. */
export interface ThreadFilter {
  readonly tenant: string
  readonly ids?: readonly string[]
  readonly status?: ThreadStatus
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface ThreadQuery extends ThreadFilter {
  readonly sortBy: ThreadSort
  readonly sortOrder: 'asc' | 'desc'
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
  /** Throws `too_large`, with their number as the fact `bytes`, if the rows have more bytes. */
  readonly bytes?: number
}

/**
 * A thread that an earlier owner left `busy`, hidden, or with webhooks to send: the owner must wake
 * it, unless all its runs wait for their time.
 */
export interface UnfinishedThread {
  readonly tenant: string
  readonly threadId: string
}

/** A thread that sleeps until the first of its delayed runs is due. */
export interface DueThread extends UnfinishedThread {
  readonly atMs: number
  /** Its place among those that are due at the same time. */
  readonly no: number
}

/** Threads that sleep, from the one that is due first: at most `limit`, after the given place. */
export type DueThreads = (after: Pick<DueThread, 'atMs' | 'no'>,
  limit: number) => Promise<readonly DueThread[]>

/** Hidden threads (of stateless runs) are found only by `get`. */
export interface ThreadIndex extends ThreadSearch {
  get(tenant: string, threadId: string): Promise<ThreadRow | undefined>
}

export interface ThreadSearch {
  /** One page, and how many threads match in all. */
  search(query: ThreadQuery, cancelled?: AbortSignal): Promise<{ rows: ThreadRow[]; total: number }>
  count(filter: ThreadFilter, cancelled?: AbortSignal): Promise<number>
}
