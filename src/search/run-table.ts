/** The port of the runs of a thread. The newest page costs the same however many runs there are. */

import type { RunRow } from '../../proto/gen/storage/v1/row.ts'

/**
 * Status of a run.
 *
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

/** A page of a thread's runs. */
export interface RunQuery {
  readonly tenant: string
  readonly threadId: string
  readonly status?: RunStatus
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
  /** The long texts that are wanted, by default all. Others may be left empty. */
  readonly texts?: readonly RunText[]
  /**
   * Bytes that the rows may have. A longer page throws `too_large`, with `bytes` in its details.
   */
  readonly bytes?: number
}

/** Bytes that reading a page of rows takes at first. */
export const pageBytes = 4 * 1024 * 1024

/** Finds runs of a thread. Rows are written by the log port, with the log. */
export interface RunTable {
  /** The newest row of a run; undefined if there is none. */
  get(tenant: string, threadId: string, runId: string): Promise<RunRow | undefined>
  /** Newest first. Runs made in the same millisecond are in the reverse order of their creation. */
  list(query: RunQuery): Promise<RunRow[]>
}
