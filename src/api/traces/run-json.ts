/** Runs of traces as both APIs show them. Requests may select members: most may be missing. */

import { Type } from 'typebox'

import { Json, JsonObject, Nullable, OneOf, Text, Uuid } from '../json.ts'
import type { Value } from '../operation.ts'
import { byKind, feedbackStats, feedbackStatsV2 } from './statistics.ts'

const text = () => Nullable(Text())
const uuid = () => Nullable(Uuid())
const number = () => Nullable(Type.Number())
const costs = () => byKind(Text())
const raw = () => Nullable(Type.Object({ raw: Type.Record(Type.String(), Type.Number()) }))

// Clients of the first API know these members. Here they never have a value.
const unset = Type.Partial(Type.Object({
  inputs_s3_urls: Type.Null(),
  outputs_s3_urls: Type.Null(),
  child_run_ids: Type.Null(),
  direct_child_run_ids: Type.Null(),
  reference_dataset_id: Type.Null(),
  price_model_id: Type.Null(),
  in_dataset: Type.Null(),
  last_queued_at: Type.Null(),
  manifest_id: Type.Null(),
  manifest_s3_id: Type.Null(),
  share_token: Type.Null(),
  trace_tier: Type.Null(),
  trace_first_received_at: Type.Null(),
  ttl_seconds: Type.Null(),
}))

/** Schema of a run of a trace in the first API. Times have no zone, costs are texts. */
export const TracedRun = Type.Object({
  id: Uuid(),
  name: Text(),
  run_type: Text(),
  start_time: Text(),
  status: OneOf(['pending', 'success', 'error']),
  trace_id: Uuid(),
  dotted_order: Text(),
  session_id: Uuid(),
  app_path: Text(),
  ...Type.Partial(Type.Object({
    end_time: text(),
    error: Json(),
    extra: Json(),
    events: Json(),
    inputs: Json(),
    inputs_preview: text(),
    outputs: Json(),
    outputs_preview: text(),
    s3_urls: Nullable(JsonObject()),
    serialized: Json(),
    tags: Json(),
    parent_run_id: uuid(),
    parent_run_ids: Type.Array(Text()),
    reference_example_id: uuid(),
    execution_order: Nullable(Type.Literal(1)),
    prompt_tokens: Type.Number(),
    completion_tokens: Type.Number(),
    total_tokens: Type.Number(),
    prompt_token_details: byKind(Type.Number()),
    completion_token_details: byKind(Type.Number()),
    prompt_cost: text(),
    completion_cost: text(),
    total_cost: text(),
    prompt_cost_details: costs(),
    completion_cost_details: costs(),
    first_token_time: text(),
    feedback_stats: feedbackStats(),
    thread_id: text(),
    trace_upgrade: Type.Boolean(),
  })).properties,
  ...unset.properties,
}, { $id: 'TracedRun', description: 'A run of a trace.' })

/** Schema of a run of a trace in the second API. Costs are numbers, in US dollars. */
export const TracedRunV2 = Type.Object({
  id: Uuid(),
  name: Text(),
  // In upper case, as `LLM`.
  run_type: Text(),
  ...Type.Partial(Type.Object({
    // `PENDING`: it has begun, and its end was not sent.
    status: OneOf(['PENDING', 'SUCCESS', 'ERROR']),
    start_time: text(),
    end_time: text(),
    latency_seconds: number(),
    first_token_time: text(),
    error: text(),
    error_preview: text(),
    extra: Json(),
    metadata: Json(),
    events: Json(),
    inputs: Json(),
    inputs_preview: text(),
    outputs: Json(),
    outputs_preview: text(),
    manifest: Json(),
    // The runs around it, the root first, as far as they are known.
    parent_run_ids: Type.Array(Text()),
    project_id: Uuid(),
    trace_id: Uuid(),
    thread_id: text(),
    dotted_order: Text(),
    is_root: Type.Boolean(),
    reference_example_id: uuid(),
    reference_dataset_id: Type.Null(),
    total_tokens: number(),
    prompt_tokens: number(),
    completion_tokens: number(),
    total_cost: number(),
    prompt_cost: number(),
    completion_cost: number(),
    prompt_token_details: raw(),
    completion_token_details: raw(),
    prompt_cost_details: raw(),
    completion_cost_details: raw(),
    price_model_id: Type.Null(),
    tags: Json(),
    app_path: Text(),
    // Links by name; null if it has none.
    attachments: Nullable(JsonObject()),
    ls_user_id: Type.Null(),
    thread_evaluation_time: Type.Null(),
    is_in_dataset: Type.Boolean(),
    last_queued_at: Type.Null(),
    share_url: text(),
    feedback_stats: feedbackStatsV2(),
  })).properties,
}, { $id: 'TracedRunV2', description: 'A run of a trace: the members that are selected.' })

/** Schema of a page of runs in the first API. */
export const RunPage = Type.Object({
  runs: Type.Array(TracedRun),
  cursors: Type.Object({ next: text(), prev: Type.Null() }),
  search_cursors: Type.Null(),
  parsed_query: Type.Null(),
})

/** Schema of a page of runs in the second API. */
export const RunPageV2 = Type.Object({ items: Type.Array(TracedRunV2), next_cursor: text(),
  has_more: Type.Boolean() })

/** A run of a trace in the second API: the members that are selected. */
export type TracedRunV2 = Value<typeof TracedRunV2>
