/** Metrics that charts may show. Pure. */

import { HeddleError } from '../../../errors.ts'
import type { ByKind, KindGroup } from '../../spans/token-kinds.ts'
import { feedbackJson } from './feedback-tally.ts'
import { byKind, meanLatency, statsJson } from './run-stats.ts'
import type { Tally } from './tally.ts'

/** Metrics that are statistics under another name, or the same one. */
const ofStats = ['run_count', 'latency_p50', 'latency_p99', 'first_token_p50', 'first_token_p99',
  'total_tokens', 'prompt_tokens', 'completion_tokens', 'median_tokens', 'tokens_p99',
  'prompt_tokens_p50', 'prompt_tokens_p99', 'completion_tokens_p50', 'completion_tokens_p99',
  'error_rate', 'streaming_rate'] as const
const costs = ['total_cost', 'prompt_cost', 'completion_cost', 'cost_p50', 'cost_p99'] as const

/** Metrics with a value for each kind of token, as the groups of a series. */
const ofKinds: Readonly<Record<string, KindGroup>> = { prompt_token_details: 'promptTokens',
  completion_token_details: 'completionTokens', prompt_cost_details: 'promptCost',
  completion_cost_details: 'completionCost' }

/** The values of a metric by the kind of token; undefined for other metrics. */
export function kindMetricOf(metric: string): ((tally: Tally) => ByKind | null) | undefined {
  const group = Object.hasOwn(ofKinds, metric) ? ofKinds[metric] : undefined
  return group && ((tally) => byKind(tally, group))
}

/** The value of a metric of some spans; costs are numbers. Throws `invalid` for unknown ones. */
export function metricOf(metric: string, feedbackKey = ''): (tally: Tally) => unknown {
  if ((ofStats as readonly string[]).includes(metric)) {
    return (tally) => statsJson(tally, [metric])[metric]
  }
  if ((costs as readonly string[]).includes(metric)) {
    return (tally) => {
      const text = statsJson(tally, [metric])[metric]
      return text === null ? null : Number(text)
    }
  }
  const feedback = (tally: Tally) => tally.feedback.get(feedbackKey)
  switch (metric) {
    case 'latency_avg':
      return meanLatency
    case 'feedback':
      return (tally) => feedbackJson(tally.feedback, 1)[feedbackKey] ?? null
    case 'feedback_score_avg':
      return (tally) => {
        const own = feedback(tally)
        return own === undefined || own.scores === 0 ? null : own.sum / own.scores
      }
    case 'feedback_values':
      return (tally) => Object.fromEntries(feedback(tally)?.values ?? [])
    default:
      throw new HeddleError('invalid',
        `metric: one of ${
          [...ofStats, ...costs, 'latency_avg', 'feedback', 'feedback_score_avg', 'feedback_values',
            ...Object.keys(ofKinds)].join(', ')
        }.`)
  }
}
