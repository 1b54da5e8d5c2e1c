/** Conversations in answers. Pure. */

import { dollars } from '../runs/run-fields.ts'
import type { SpanHead } from '../../spans/span.ts'
import { timeTextUs } from '../../spans/time.ts'
import type { ByKind, KindGroup } from '../../spans/token-kinds.ts'
import type { Conversation } from './conversation-page.ts'
import { feedbackJson } from './feedback-tally.ts'
import { addKinds } from '../../spans/kind-sums.ts'
import type { KindSums } from '../../spans/kind-sums.ts'
import { statsJson } from './run-stats.ts'

/** Tokens and costs of a trace. */
type TraceUsage = Pick<SpanHead, 'totalTokens' | 'totalCost' | 'kinds'>

/** Previews of a conversation, and what its traces used. */
export interface ConversationContent {
  readonly firstInputs: string | null
  readonly lastInputs: string | null
  readonly lastOutputs: string | null
  readonly lastError: string | null
  readonly usage: readonly TraceUsage[]
}

/** Shows a conversation in the form of one API. */
export type ConversationShape = (conversation: Conversation,
  content: ConversationContent) => Record<string, unknown>

/** The group of the first API. Costs are texts. */
export const groupJson: ConversationShape = (conversation, content) => {
  const { thread, newest, oldest, tally } = conversation
  const cost = sumOf(content.usage, 'totalCost')
  return {
    group_key: thread,
    filter: `eq(thread_id, ${JSON.stringify(thread)})`,
    ...shared(conversation, content),
    min_start_time: timeTextUs(oldest.startUs),
    max_start_time: timeTextUs(newest.startUs),
    total_cost: cost === null ? null : dollars(cost),
    feedback_stats: feedbackJson(tally.feedback, 1),
  }
}

/** The thread of the second API. Costs are numbers. */
export const threadJson: ConversationShape = (conversation, content) => {
  const { thread, newest, oldest, tally } = conversation
  return {
    thread_id: thread,
    ...shared(conversation, content),
    last_inputs: content.lastInputs,
    trace_id: newest.trace,
    first_trace_id: oldest.trace,
    last_trace_id: newest.trace,
    start_time: `${timeTextUs(newest.startUs)}Z`,
    min_start_time: `${timeTextUs(oldest.startUs)}Z`,
    max_start_time: `${timeTextUs(newest.startUs)}Z`,
    num_errored_turns: tally.errors,
    last_error: content.lastError,
    total_cost: sumOf(content.usage, 'totalCost') ?? 0,
    total_token_details: kindsOf(content.usage, 'promptTokens', 'completionTokens'),
    total_cost_details: kindsOf(content.usage, 'promptCost', 'completionCost'),
    feedback_stats: feedbackJson(tally.feedback, 2),
  }
}

function shared({ tally }: Conversation, { firstInputs, lastOutputs, usage }: ConversationContent) {
  return {
    count: tally.count,
    ...statsJson(tally, ['latency_p50', 'latency_p99']),
    total_tokens: sumOf(usage, 'totalTokens') ?? 0,
    first_inputs: firstInputs,
    last_outputs: lastOutputs,
  }
}

/** Sums by the kind of token, in and out together. */
function kindsOf(usage: readonly TraceUsage[], ...groups: readonly KindGroup[]): ByKind {
  const sums: KindSums = new Map()
  for (const { kinds } of usage) {
    for (const group of groups) {
      addKinds(sums, { [groups[0]!]: kinds?.[group] ?? {} })
    }
  }
  return Object.fromEntries(sums.get(groups[0]!) ?? [])
}

function sumOf(usage: readonly TraceUsage[], name: 'totalTokens' | 'totalCost'): number | null {
  const known = usage.flatMap((each) => each[name] ?? [])
  return known.length === 0 ? null : known.reduce((sum, each) => sum + each, 0)
}
