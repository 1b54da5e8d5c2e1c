/** End of the thread of a stateless run. Pure. */

import { Draft } from './decision.ts'
import { isBusy } from '../model/waiting-message.ts'
import type { Decision, Situation } from './decision.ts'
import { mayBeKept, show } from './kept-thread.ts'
import { decideDelete } from './thread.ts'

/**
 * Deletes the thread unless a client still follows the run or a webhook is owed. A thread that may
 * be kept is shown instead, because its client may not have received the result. Messages that wait
 * for a resume end with the thread.
 */
export function decideExpiry(at: Situation, isFollowed: boolean, nowMs: number): Decision {
  const { exists, row } = at.state
  const hasEnded = exists && row.hidden && !isBusy(at.state)
  const isDue = hasEnded && row.owedWebhooks.length > 0
  const goes = hasEnded && !isDue && !isFollowed
  if (goes && !mayBeKept(row)) return decideDelete(at, { note: [] }, nowMs)
  const draft = new Draft(at, nowMs)
  if (goes) show(draft)
  draft.effect({ kind: 'awaitWebhooks', isDue })
  if (hasEnded && !isDue && !goes) draft.effect({ kind: 'retain' })
  return draft.decided()
}
