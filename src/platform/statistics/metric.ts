/** What a chart may show. Pure. */

import { HeddleError } from '../../errors.ts'
import { feedbackJson } from './feedback-tally.ts'
import { meanLatency, statsJson } from './run-stats.ts'
import type { Tally } from './tally.ts'

/** Metrics that are statistics under another name, or the same one. */
const ofStats = ['run_count', 'latency_p50', 'latency_p99', 'first_token_p50', 'first_token_p99',
  'total_tokens', 'prompt_tokens', 'completion_tokens', 'median_tokens', 'tokens_p99',
  'prompt_tokens_p50', 'prompt_tokens_p99', 'completion_tokens_p50', 'completion_tokens_p99',
  'error_rate', 'streaming_rate'] as const
const costs = ['total_cost', 'prompt_cost', 'completion_cost', 'cost_p50', 'cost_p99'] as const

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
          [...ofStats, ...costs, 'latency_avg', 'feedback', 'feedback_score_avg', 'feedback_values']
            .join(', ')
        }.`)
  }
}
