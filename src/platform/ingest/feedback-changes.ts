/** Changes of existing feedback. Changes of the same row run one after another. */

import { FairSemaphore } from '../../../cluster/index.ts'
import { inTurn } from '../calls/in-turn.ts'
import { changedFeedback } from '../records/feedback/feedback-row.ts'
import type { SpanStore } from '../spans/span-port.ts'
import { writeFeedback } from './feedback-write.ts'
import type { SpanWrites } from './ingest-call.ts'

/** Changes of one row wait for each other. */
const turnLimits = { inAll: 64, each: 1, waiting: 10_000, waitingEach: 1_000,
  full: 'Too many changes of feedback at once: try again in a moment.' }

/**
 * Returns the calls that change and delete feedback. A change keeps what another one sets at the
 * same time, and does not restore what was deleted, if both reach this member. In a cluster,
 * changes of one row that reach two members at once are ordered by the store: the last one wins.
 */
export function feedbackChanges(
  store: SpanStore,
): Pick<SpanWrites, 'changeFeedback' | 'deleteFeedback'> {
  const turns = new FairSemaphore(turnLimits)
  return {
    changeFeedback: ({ tenant, id, change, nowUs }) =>
      inTurn(turns, `${id} ${tenant}`, async () => {
        const row = await store.getFeedback(tenant, id)
        if (row === undefined) return undefined
        // The clock may have gone back, and the store orders changes by this time.
        const after = changedFeedback(row, change, Math.max(nowUs, row.modifiedUs + 1))
        await writeFeedback(store, [after])
        return after
      }),
    deleteFeedback: ({ tenant, id }) =>
      inTurn(turns, `${id} ${tenant}`, () => store.deleteFeedback(tenant, id)),
  }
}
