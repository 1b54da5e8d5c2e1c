/** Webhooks of ended runs that are called, given up and settled. Pure. */

import type { OwnCommand } from '../model/command.ts'
import { Draft } from './decision.ts'
import type { Decision, Situation } from './decision.ts'

/** Outcome of the call of a webhook. */
export type Settled = Omit<Extract<OwnCommand, { type: 'settled' }>, 'type'>

/** Calls the webhooks that are owed. Beyond `owedMax`, the oldest are given up. */
export function decideOwed(at: Situation, owedMax: number, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  const { owedWebhooks } = at.state.row
  const surplus = Math.max(0, owedWebhooks.length - owedMax)
  for (const runId of owedWebhooks.slice(0, surplus)) {
    settle(draft, { runId, delivered: false, reason: 'too many of this thread wait' })
  }
  draft.effect({ kind: 'callWebhooks' })
  return draft.decided()
}

/** Notes that a webhook was delivered, or given up for a reason. */
export function decideSettled(at: Situation, settled: Settled, nowMs: number): Decision {
  const draft = new Draft(at, nowMs)
  settle(draft, settled)
  return draft.decided()
}

function settle(draft: Draft, { runId, delivered, reason }: Settled): void {
  if (!draft.state.row.owedWebhooks.includes(runId)) return
  if (!delivered) draft.effect({ kind: 'logGivenUp', runId, reason })
  draft.write([{ $case: 'webhookSettled', value: { runId, atMs: draft.nowMs, delivered, reason } }])
}
