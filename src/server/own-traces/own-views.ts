/** Shows the platform details of runs from their threads, as its traces keep no copy of them. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../../errors.ts'
import type { QueryNeeds } from '../../platform/index.ts'
import type { RunStatus } from '../../search/index.ts'
import type { ThreadClient } from '../../thread/index.ts'

/** Characters of a text that is shown. Of states, no more are read once there are so many. */
const textMax = 8 * 1024 * 1024

/** Statuses of runs that have not ended. */
const unfinished: ReadonlySet<string> = new Set<RunStatus>(['pending', 'running'])

/** The threads as the platform asks them. */
export function ownViews(
  threads: Pick<ThreadClient, 'getRun' | 'joinRun' | 'state' | 'history'>,
): Omit<QueryNeeds, 'runningRuns'> {
  return {
    ownRun: ({ tenant, thread, run }) =>
      orGone(null, async () => {
        const row = await threads.getRun(tenant, thread, run)
        const { kwargsJson, metadataJson, finalCheckpointId: finalCheckpoint } = row
        const errorJson = errorOf(row)
        // The history of a thread may be gone before its runs are.
        const outputs = errorJson !== '' || finalCheckpoint === '' || unfinished.has(row.status)
          ? null
          : await orGone(null, () => threads.joinRun(tenant, thread, run))
        return { kwargs: shown(kwargsJson), metadata: shown(metadataJson), error: shown(errorJson),
          outputs: shown(outputs), finalCheckpoint }
      }),
    ownState: ({ tenant, thread, checkpoint: checkpointId }) =>
      orGone(null, async () =>
        shown(
          await threads.state(tenant, thread, { checkpointId, checkpointNs: '', subgraphs: false }),
        )),
    ownStatesBefore: ({ tenant, thread, checkpoint: before, limit }) =>
      orGone([], async () => {
        const states: string[] = []
        const query = { checkpointId: null, checkpointNs: '', before, limit, metadata: null }
        let characters = 0
        for await (const part of threads.history(tenant, thread, query)) {
          states.push(...part.states)
          characters += part.states.reduce((sum, { length }) => sum + length, 0)
          if (characters > textMax) break
        }
        return states
      }),
  }
}

/** A run that was cancelled has no error of its own. */
function errorOf({ status, errorJson, cancelReason: message = '' }: RunRow): string {
  return errorJson === '' && status === ('interrupted' satisfies RunStatus)
    ? JSON.stringify({ error: 'Cancelled', message })
    : errorJson
}

function shown(text: string | null): string | null {
  return text === null || text === '' || text.length > textMax ? null : text
}

/** Result of `find`, or `gone` after a permanent error. An error that may pass is thrown again. */
async function orGone<Gone, Found>(gone: Gone, find: () => Promise<Found>): Promise<Found | Gone> {
  try {
    return await find()
  } catch (error) {
    if (HeddleError.from(error).retry === 'no') return gone
    throw error
  }
}
