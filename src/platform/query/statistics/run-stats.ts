/** Statistics of runs, as answers have them. Pure. */

import { dollars, dollarsByKind } from '../runs/run-fields.ts'
import { timeTextUs } from '../../spans/time.ts'
import type { ByKind, KindGroup } from '../../spans/token-kinds.ts'
import { meanOf } from './distribution.ts'
import { feedbackJson } from './feedback-tally.ts'
import { percentileIn } from './tally.ts'
import type { Measure, Tally } from './tally.ts'

/** Makes a member of statistics; null if it is not known. */
type Stat = (tally: Tally) => unknown

const seconds = (us: number | null) => (us === null ? null : us / 1e6)
const time = (measure: Measure, share: number): Stat => (tally) =>
  seconds(percentileIn(tally, measure, share))
const tokens = (measure: Measure, share: number): Stat => (tally) => {
  const found = percentileIn(tally, measure, share)
  return found === null ? null : Math.round(found)
}
const cost = (measure: Measure, share: number): Stat => (tally) =>
  costText(percentileIn(tally, measure, share))
const tokenSum = (measure: Measure): Stat => (tally) => sumOf(tally, measure) ?? 0
const costSum = (measure: Measure): Stat => (tally) => costText(sumOf(tally, measure))
const share = (of: (tally: Tally) => number): Stat => (tally) =>
  tally.count === 0 ? null : of(tally) / tally.count
const kindsOf = (group: KindGroup): Stat => (tally) => {
  const sums = byKind(tally, group)
  return sums === null || group === 'promptTokens' || group === 'completionTokens'
    ? sums
    : dollarsByKind(sums)
}

/** The members of statistics, as the first API has them. Costs are texts. */
const runStats: Readonly<Record<string, Stat>> = {
  run_count: ({ count }) => count,
  latency_p50: time('latency', 0.5),
  latency_p99: time('latency', 0.99),
  first_token_p50: time('firstToken', 0.5),
  first_token_p99: time('firstToken', 0.99),
  total_tokens: tokenSum('totalTokens'),
  prompt_tokens: tokenSum('promptTokens'),
  completion_tokens: tokenSum('completionTokens'),
  median_tokens: tokens('totalTokens', 0.5),
  tokens_p99: tokens('totalTokens', 0.99),
  prompt_tokens_p50: tokens('promptTokens', 0.5),
  prompt_tokens_p99: tokens('promptTokens', 0.99),
  completion_tokens_p50: tokens('completionTokens', 0.5),
  completion_tokens_p99: tokens('completionTokens', 0.99),
  last_run_start_time: lastStart,
  feedback_stats: ({ feedback }) => feedbackJson(feedback, 1),
  run_facets: () => [],
  error_rate: share(({ errors }) => errors),
  streaming_rate: share(({ streamed }) => streamed),
  total_cost: costSum('totalCost'),
  prompt_cost: costSum('promptCost'),
  completion_cost: costSum('completionCost'),
  cost_p50: cost('totalCost', 0.5),
  cost_p99: cost('totalCost', 0.99),
  prompt_token_details: kindsOf('promptTokens'),
  completion_token_details: kindsOf('completionTokens'),
  prompt_cost_details: kindsOf('promptCost'),
  completion_cost_details: kindsOf('completionCost'),
}

/** Statistics that may be selected besides. */
const otherStats: Readonly<Record<string, Stat>> = { ...runStats, latency_avg: meanLatency }

/** The statistics of a tally: the members that are selected, or all of the first API. */
export function statsJson(tally: Tally, select: readonly string[] = []): Record<string, unknown> {
  const names = select.filter((name) => Object.hasOwn(otherStats, name))
  return Object.fromEntries((names.length > 0 ? names : Object.keys(runStats))
    .map((name) => [name, otherStats[name]!(tally)]))
}

/** The mean latency in seconds. */
export function meanLatency({ distributions }: Tally): number | null {
  const latency = distributions.get('latency')
  return latency === undefined ? null : seconds(meanOf(latency))
}

/** Sum of a measure; null if no span has it. */
function sumOf({ distributions }: Tally, measure: Measure): number | null {
  return distributions.get(measure)?.sum ?? null
}

/** The sums of a group by the kind of token; null if there are none. */
export function byKind({ kinds }: Tally, group: KindGroup): ByKind | null {
  const sums = kinds.get(group)
  return sums === undefined
    ? null
    : Object.fromEntries([...sums].map(([kind, sum]) => [kind, Number(sum.toPrecision(12))]))
}

function lastStart({ count, lastStartUs }: Tally): string | null {
  return count === 0 ? null : timeTextUs(lastStartUs)
}

/** Dollars as a text, rounded: sums have more digits than they are worth. */
function costText(value: number | null): string | null {
  return value === null ? null : dollars(Number(value.toPrecision(12)))
}
