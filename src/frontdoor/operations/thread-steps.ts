/** The steps and runs of a thread from which its use is counted. */

import { setImmediate } from 'node:timers/promises'

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { UsageStep } from '../../platform/index.ts'
import type { ThreadClient } from '../../thread/index.ts'

/** Steps that are read, and runs. */
const [stepsMax, runsMax] = [1_000, 1_000]

const select = ['checkpoint_id', 'parent_checkpoint_id', 'created_at', 'metadata.run_id',
  'tasks.messages'] as const

/** Steps and runs of a thread, newest first. */
export interface UsedThread {
  readonly steps: readonly UsageStep[]
  readonly runs: readonly RunRow[]
  /** There are older steps, or older runs. */
  readonly isPartial: boolean
}

/** Reads them. Throws as a history does. */
export async function usedThread(threads: Pick<ThreadClient, 'history' | 'listRuns'>,
  { tenant, threadId }: { readonly tenant: string; readonly threadId: string },
  cancelled?: AbortSignal): Promise<UsedThread> {
  const steps: UsageStep[] = []
  const parts = threads.history(tenant, threadId, { checkpointId: null, checkpointNs: '',
    before: null, limit: stepsMax, metadata: null, select }, cancelled)
  for await (const { states } of parts) {
    for (const text of states) steps.push(JSON.parse(text) as UsageStep)
    // Others have their turn between two parts.
    await setImmediate()
  }
  const runs = await threads.listRuns({ tenant, threadId, status: undefined, limit: runsMax,
    offset: 0, texts: [] }, cancelled)
  return { steps, runs, isPartial: steps.length === stepsMax || runs.length === runsMax }
}
