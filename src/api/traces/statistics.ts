/** Statistics of runs and of projects, and numbers of the feedback on them. */

import { Type } from 'typebox'
import type { TSchema } from 'typebox'

import { Nullable, Text } from '../json.ts'
import type { Value } from '../operation.ts'

const number = () => Nullable(Type.Number())

const Scores = Type.Object({
  n: Type.Integer(),
  avg: number(),
  values: Type.Record(Type.String(), Type.Integer()),
})

const Spread = Type.Object({
  ...Scores.properties,
  min: number(),
  max: number(),
  stdev: number(),
  errors: Type.Integer(),
  comments: Type.Array(Text()),
  sources: Type.Array(Text()),
  contains_thread_feedback: Type.Boolean(),
})

/** Schema of the numbers of feedback by its key, as the first API has them. */
export const feedbackStats = () => Type.Record(Type.String(), Scores)

/** Schema of the numbers of feedback by its key, as the second API has them. */
export const feedbackStatsV2 = () => Type.Record(Type.String(), Spread)

/** Schema of numbers by the kind of token, such as `cache_read`; null if none are known. */
export const byKind = <Each extends TSchema>(each: Each) =>
  Nullable(Type.Record(Type.String(), each))

/** Schema of statistics whose costs, in US dollars, have this one. Latencies are seconds. */
export const statsWith = <Cost extends TSchema>(cost: Cost) =>
  Type.Object({
    run_count: Type.Integer(),
    latency_p50: number(),
    latency_p99: number(),
    first_token_p50: number(),
    first_token_p99: number(),
    total_tokens: number(),
    prompt_tokens: number(),
    completion_tokens: number(),
    median_tokens: number(),
    tokens_p99: number(),
    prompt_tokens_p50: number(),
    prompt_tokens_p99: number(),
    completion_tokens_p50: number(),
    completion_tokens_p99: number(),
    // A time without its zone, which is UTC.
    last_run_start_time: Nullable(Text()),
    feedback_stats: feedbackStats(),
    run_facets: Type.Array(
      Type.Object({ key: Text(), value: Text(), n: Type.Integer(), query: Text() }),
    ),
    error_rate: number(),
    streaming_rate: number(),
    total_cost: Nullable(cost),
    prompt_cost: Nullable(cost),
    completion_cost: Nullable(cost),
    cost_p50: Nullable(cost),
    cost_p99: Nullable(cost),
    prompt_token_details: byKind(Type.Number()),
    completion_token_details: byKind(Type.Number()),
    prompt_cost_details: byKind(cost),
    completion_cost_details: byKind(cost),
  })

/** Statistics of runs. Costs are texts. */
export const RunStats = statsWith(Text())

/** Statistics of runs, of which a request may select some. Costs are texts. */
export type RunStats = Value<typeof RunStats>
