/** The port of the runs of a thread: the newest page costs the same at any age. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'

/**
 * pending      waiting in the thread's queue
 * running      a worker executes it
 * success      ended, or waits for a human (the thread is `interrupted` then)
 * error        the graph threw, or its attempts are used up
 * interrupted  cancelled by somebody
 * timeout      ended by its time limit
 */
export type RunStatus = 'pending' | 'running' | 'success' | 'error' | 'interrupted' | 'timeout'

/** Fields of a run whose texts may be long: what a client sent, and what its graph made. */
export type RunText = 'metadataJson' | 'kwargsJson' | 'planJson' | 'errorJson' | 'interruptsJson'

export interface RunQuery {
  readonly tenant: string
  readonly threadId: string
  readonly status?: RunStatus
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
  /** The long texts that are wanted (by default all); others may be left empty. */
  readonly texts?: readonly RunText[]
  /** Throws `too_large`, with their number as the fact `bytes`, if the rows have more bytes. */
  readonly bytes?: number
}

/** What reading a page of rows takes at first. */
export const pageBytes = 4 * 1024 * 1024

export interface RunTable {
  get(tenant: string, threadId: string, runId: string): Promise<RunRow | undefined>
  /** Newest first; runs made in the same millisecond in the reverse order of their creation. */
  list(query: RunQuery): Promise<RunRow[]>
}
