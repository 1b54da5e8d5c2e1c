/** A span as a run of the first API: lower case, costs as texts, times without a zone. */

import type { PayloadField } from '../../spans/payload.ts'
import { timeTextUs } from '../../spans/time.ts'
import type { ByKind } from '../../spans/token-kinds.ts'
import type { Content } from '../payload/content.ts'
import { previewOf } from './preview.ts'
import { appPath, dollars, dollarsByKind, feedbackStats, fromAttachments, fromContent, fromHead,
  numeric, orderOf, parentsOf, quoted, quotedId, unknownValue } from './run-fields.ts'
import type { RunFields } from './run-fields.ts'
import { isRoot, statusOf } from '../filter/test-span.ts'

const member = (field: PayloadField, otherwise = 'null') =>
  fromContent((_, { payload }) => payload[field] ?? otherwise)

const time = (us: number | null) => (us === null ? 'null' : `"${timeTextUs(us)}"`)

const preview = (field: PayloadField) =>
  fromContent((_, content: Content) => quoted(previewOf(content, field)))

/** The members of a run. Those with a constant value are there for the models of clients. */
export const runV1Fields: RunFields = {
  id: fromHead(({ id }) => quotedId(id)),
  name: fromHead(({ name }) => quoted(name ?? '')),
  run_type: fromHead(({ type }) => quoted(type ?? 'chain')),
  start_time: fromHead(({ startUs }) => time(startUs)),
  end_time: fromHead(({ endUs }) => time(endUs)),
  status: fromHead((head) => `"${statusOf(head)}"`),
  error: member('error'),
  extra: member('extra', '{}'),
  events: member('events', '[]'),
  inputs: member('inputs', '{}'),
  inputs_preview: preview('inputs'),
  inputs_s3_urls: unknownValue,
  outputs: member('outputs'),
  outputs_preview: preview('outputs'),
  outputs_s3_urls: unknownValue,
  s3_urls: fromAttachments((attachments) =>
    attachments.map((
      { name, type, url },
    ) => [`attachment.${name}`, { presigned_url: url, mime_type: type }])
  ),
  serialized: member('serialized'),
  tags: member('tags', '[]'),
  parent_run_id: fromHead(({ parent }) => quotedId(parent)),
  parent_run_ids: fromHead((head) => JSON.stringify(parentsOf(head))),
  child_run_ids: unknownValue,
  direct_child_run_ids: unknownValue,
  trace_id: fromHead(({ trace }) => quotedId(trace)),
  dotted_order: fromHead((head) => quoted(orderOf(head))),
  session_id: fromHead(({ project }) => quotedId(project)),
  reference_example_id: fromHead(({ example }) => quotedId(example)),
  reference_dataset_id: unknownValue,
  execution_order: fromHead((head) => (isRoot(head) ? '1' : 'null')),
  prompt_tokens: fromHead(({ promptTokens }) => numeric(promptTokens ?? 0)),
  completion_tokens: fromHead(({ completionTokens }) => numeric(completionTokens ?? 0)),
  total_tokens: fromHead(({ totalTokens }) => numeric(totalTokens ?? 0)),
  prompt_token_details: fromHead(({ kinds }) => tokensByKind(kinds?.promptTokens)),
  completion_token_details: fromHead(({ kinds }) => tokensByKind(kinds?.completionTokens)),
  prompt_cost: fromHead(({ promptCost }) => cost(promptCost)),
  completion_cost: fromHead(({ completionCost }) => cost(completionCost)),
  total_cost: fromHead(({ totalCost }) => cost(totalCost)),
  prompt_cost_details: fromHead(({ kinds }) => costByKind(kinds?.promptCost)),
  completion_cost_details: fromHead(({ kinds }) => costByKind(kinds?.completionCost)),
  price_model_id: unknownValue,
  first_token_time: fromHead(({ firstTokenUs }) => time(firstTokenUs)),
  feedback_stats: fromHead(({ feedback }) => feedbackStats(feedback)),
  thread_id: fromHead(({ thread }) => quoted(thread)),
  app_path: fromHead((head) => quoted(appPath(head))),
  in_dataset: unknownValue,
  last_queued_at: unknownValue,
  manifest_id: unknownValue,
  manifest_s3_id: unknownValue,
  share_token: unknownValue,
  trace_tier: unknownValue,
  trace_first_received_at: unknownValue,
  trace_upgrade: fromHead(() => 'false'),
  ttl_seconds: unknownValue,
}

/** Members without which the models of clients refuse a run. */
export const runV1Required: readonly string[] = ['id', 'name', 'run_type', 'start_time', 'status',
  'trace_id', 'dotted_order', 'session_id', 'app_path']

/**
 * The member that is shown with another one where it is known: the clients select tokens and costs,
 * and expect their kinds.
 */
export function runV1Beside(name: string): string | undefined {
  return /^(?:prompt|completion)_(?:tokens|cost)$/.test(name)
    ? `${name.replace(/s$/, '')}_details`
    : undefined
}

/**
 * Name of the member for a select. Some selects ask for a link to stored data, which this server
 * has not.
 */
export function runV1Member(select: string): string {
  return select.replace(/_or_signed_url$/, '')
}

/** Tokens by kind as JSON; null if none are known. */
function tokensByKind(tokens: ByKind | undefined): string {
  return tokens === undefined ? 'null' : JSON.stringify(tokens)
}

function costByKind(costs: ByKind | undefined): string {
  return costs === undefined ? 'null' : JSON.stringify(dollarsByKind(costs))
}

function cost(value: number | null): string {
  return quoted(value === null ? null : dollars(value))
}
