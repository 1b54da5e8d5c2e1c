/** Time, tokens, cost and models of a thread, by run. */

import { Type } from 'typebox'

import { Nullable, Text, Time, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import type { Value } from '../operation.ts'
import { ofThread } from './thread-parts.ts'

const Tokens = () => Type.Integer({ minimum: 0 })
const Cost = () => Nullable(Type.Number({ description: 'US dollars; null without a price.' }))

const ModelUse = Type.Object({
  model: Nullable(Type.String({ description: 'Null where its messages do not say it.' })),
  provider: Nullable(Text()),
  calls: Type.Integer(),
  total_tokens: Tokens(),
  cost: Cost(),
})

const sums = {
  duration_ms: Nullable(Type.Integer({ description: 'Null while it goes on.' })),
  calls: Type.Integer({ description: 'Calls of models.' }),
  input_tokens: Tokens(),
  output_tokens: Tokens(),
  total_tokens: Tokens(),
  cached_tokens: Type.Integer({ description: 'Of the input: read from a cache.' }),
  reasoning_tokens: Type.Integer({ description: 'Of the output.' }),
  cost: Cost(),
  models: Type.Array(ModelUse),
  unpriced_models: Type.Array(Text(), {
    description: 'Models without a price: the cost is that of the others.',
  }),
}

const UsageSum = Type.Object(sums)

const RunUsage = Type.Object({
  run_id: Uuid(),
  status: Nullable(Text()),
  started_at: Nullable(Time()),
  ended_at: Nullable(Time()),
  message_id: Nullable(Type.String({ description: 'The last message that it wrote.' })),
  ...sums,
})

const ThreadUsage = Type.Object({
  runs: Type.Array(RunUsage, { description: 'Newest first.' }),
  total: UsageSum,
  is_partial: Type.Boolean({ description: 'There are older steps, which are not counted.' }),
}, { $id: 'ThreadUsage', description: 'Time, tokens and cost of a thread by run. A message of a ' +
  'model counts once, whatever was repeated.' })

export const getThreadUsage = operation('GET', '/threads/:thread_id/usage', {
  asks: 'threads:read',
  ...ofThread,
  access: 'read',
  summary: 'Get what the runs of a thread took and cost, over its newest 1 000 steps',
  answer: ThreadUsage,
})

/** Time, tokens and cost of one or more runs. */
export type UsageSum = Value<typeof UsageSum>
/** Time, tokens and cost of a run. */
export type RunUsage = Value<typeof RunUsage>
/** Time, tokens and cost of a thread by run. */
export type ThreadUsage = Value<typeof ThreadUsage>
