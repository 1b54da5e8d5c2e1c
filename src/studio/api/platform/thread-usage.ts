/** Time, tokens and cost of threads and their runs, and the call for them. */

import type { RunUsage, ThreadUsage, UsageSum } from '../../../api/index.ts'
import { ask } from '../ask.ts'

export type { RunUsage, ThreadUsage, UsageSum }

/** Time, tokens and cost of a thread, by run. */
export const usageOf = (threadId: string, signal?: AbortSignal): Promise<ThreadUsage> =>
  ask('GET /threads/:thread_id/usage', { params: { thread_id: threadId }, signal })
