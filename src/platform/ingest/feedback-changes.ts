/** Changes of existing feedback. Changes of the same row run one after another. */

import { FairSemaphore } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { inTurn } from '../calls/in-turn.ts'
import { changedFeedback } from '../records/feedback/feedback-row.ts'
import type { SpanStore } from '../spans/span-port.ts'
import { placeFeedback } from './feedback-write.ts'
import type { SpanWrites } from './ingest-call.ts'

/** Attempts of a change that other members' changes come between. */
const triesMax = 10
/** Changes of one row wait for each other. */
const turnLimits = { inAll: 64, each: 1, waiting: 10_000, waitingEach: 1_000,
  full: 'Too many changes of feedback at once: try again in a moment.' }

/**
 * Returns the calls that change and delete feedback. A change keeps fields that another change sets
 * concurrently, at this or another member, and does not restore deleted feedback. `changeFeedback`
 * throws `stale` if other changes come between too often.
 */
export function feedbackChanges(
  store: SpanStore,
): Pick<SpanWrites, 'changeFeedback' | 'deleteFeedback'> {
  const turns = new FairSemaphore(turnLimits)
  return {
    changeFeedback: ({ tenant, id, change, nowUs }) =>
      inTurn(turns, `${id} ${tenant}`, async () => {
        for (let tries = 0; tries < triesMax; tries++) {
          const row = await store.getFeedback(tenant, id)
          if (row === undefined) return undefined
          // The clock may have gone back, and the store orders changes by this time.
          const after = changedFeedback(row, change, Math.max(nowUs, row.modifiedUs + 1))
          const [placed] = await placeFeedback(store, [after])
          const result = await store.replaceFeedback(row, placed!)
          if (result !== 'changed') return result === 'replaced' ? placed!.row : undefined
        }
        throw new HeddleError('stale', 'The feedback is changed all the time: try again.')
      }),
    deleteFeedback: ({ tenant, id }) =>
      inTurn(turns, `${id} ${tenant}`, () => store.deleteFeedback(tenant, id)),
  }
}
