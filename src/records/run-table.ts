/** The runs of a thread as rows: listing the newest page costs a page at any age. */

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

export interface RunQuery {
  readonly tenant: string
  readonly threadId: string
  readonly status?: RunStatus
  /** 1 to 1 000. */
  readonly limit: number
  readonly offset: number
}

export interface RunTable {
  get(tenant: string, threadId: string, runId: string): Promise<RunRow | undefined>
  /** Newest first; runs made in the same millisecond in the reverse order of their creation. */
  list(query: RunQuery): Promise<RunRow[]>
}
