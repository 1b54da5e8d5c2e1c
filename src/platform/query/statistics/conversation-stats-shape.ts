/** Statistics of conversations in answers. Costs are numbers in the second API. Pure. */

import { timeTextUs } from '../../spans/time.ts'
import type { Conversation } from './conversation-page.ts'
import { feedbackJson } from './feedback-tally.ts'
import { kindMetricOf, metricOf } from './metric.ts'
import type { Tally } from './tally.ts'

/** Statistics by the name with which a client selects them. */
type Named = Readonly<Record<string, unknown>>

/** Members whose names differ from those of selects. */
const seconds = new Set(['latency_p50', 'latency_p99', 'first_token_p50', 'first_token_p99'])

const details = ['prompt_token_details', 'completion_token_details', 'prompt_cost_details',
  'completion_cost_details']
const metrics = ['total_tokens', 'prompt_tokens', 'completion_tokens', 'total_cost', 'prompt_cost',
  'completion_cost', 'latency_p50', 'latency_p99', 'first_token_p50', 'first_token_p99',
  'median_tokens', 'error_rate', 'streaming_rate']

/** The statistics of all conversations that are selected. */
export function conversationsJson(threads: number, tally: Tally,
  select: readonly string[]): Record<string, unknown> {
  return selected({ ...measured(tally), thread_count: threads, trace_count: tally.count,
    thread_feedback_stats: {} }, select)
}

/** The statistics of one conversation that are selected. Without traces there are no times. */
export function conversationJson(conversation: Conversation | undefined, tally: Tally,
  select: readonly string[]): Record<string, unknown> {
  const time = (us: number | null | undefined) =>
    us === null || us === undefined ? null : `${timeTextUs(us)}Z`
  return selected({
    ...measured(tally),
    turns: tally.count,
    first_start_time: time(conversation?.oldest.startUs),
    last_start_time: time(conversation?.newest.startUs),
    last_end_time: time(conversation?.lastEndUs),
    feedback_stats: feedbackJson(tally.feedback, 2),
  }, select)
}

function measured(tally: Tally): Named {
  return Object.fromEntries([
    ...details.map((metric) => {
      const raw = kindMetricOf(metric)!(tally)
      return [metric, raw === null ? {} : { raw }] as const
    }),
    ...metrics.map((metric) => [metric, metricOf(metric)(tally)] as const),
  ])
}

function selected(all: Named, select: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(select.map((name) => name.toLowerCase())
    .filter((name) => Object.hasOwn(all, name))
    .map((name) => [seconds.has(name) ? `${name}_seconds` : name, all[name]]))
}
