/** End of the thread of a stateless run. Pure. */

import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'
import { decideDelete } from './thread.ts'

/** Deletes the thread unless a client still follows the run or a webhook is owed. */
export function decideExpiry(at: Situation, isFollowed: boolean, nowMs: number): Decision {
  const { exists, runs, row } = at.state
  const hasEnded = exists && row.hidden && runs.length === 0
  const isDue = hasEnded && row.owedWebhooks.length > 0
  if (hasEnded && !isDue && !isFollowed) return decideDelete(at, { note: [] }, nowMs)
  const draft = new Draft(at, nowMs)
  draft.effect({ kind: 'awaitWebhooks', isDue })
  if (hasEnded && !isDue) draft.effect({ kind: 'retain' })
  return draft.decided()
}
