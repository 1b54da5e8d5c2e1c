/** A span as a run of the second API: types and status in upper case, costs as numbers. */

import type { PayloadField } from '../../spans/payload.ts'
import { timeTextUs } from '../../spans/time.ts'
import type { KindGroup } from '../../spans/token-kinds.ts'
import { metadataOf } from '../payload/content.ts'
import { errorPreview, previewOf } from './preview.ts'
import { appPath, average, feedbackStats, fromAttachments, fromContent, fromHead, numeric, orderOf,
  parentsOf, quoted, quotedId, rawKinds, unknownValue } from './run-fields.ts'
import type { RunFields } from './run-fields.ts'
import { errorText, isRoot, numberIn, statusOf } from '../filter/test-span.ts'

const member = (field: PayloadField, otherwise = 'null') =>
  fromContent((_, { payload }) => payload[field] ?? otherwise)

const time = (us: number | null) => (us === null ? 'null' : `"${timeTextUs(us)}Z"`)

const preview = (field: PayloadField) =>
  fromContent((_, content) => quoted(previewOf(content, field)))

/** Numbers of a group by kind as JSON; null if none are known. */
const byKind = (group: KindGroup) =>
  fromHead(({ kinds }) => JSON.stringify(rawKinds(kinds?.[group])))

/** The members of a run, in lower case; selects name them in upper case. */
export const runV2Fields: RunFields = {
  id: fromHead(({ id }) => quotedId(id)),
  name: fromHead(({ name }) => quoted(name ?? '')),
  run_type: fromHead(({ type }) => quoted((type ?? 'chain').toUpperCase())),
  status: fromHead((head) => `"${statusOf(head).toUpperCase()}"`),
  start_time: fromHead(({ startUs }) => time(startUs)),
  end_time: fromHead(({ endUs }) => time(endUs)),
  latency_seconds: fromHead((head) => {
    const latencyUs = numberIn.latencyUs(head)
    return latencyUs === null ? 'null' : String(latencyUs / 1e6)
  }),
  first_token_time: fromHead(({ firstTokenUs }) => time(firstTokenUs)),
  error: fromContent((_, content) => quoted(errorText(content) ?? null)),
  error_preview: fromContent((_, content) => quoted(errorPreview(content))),
  extra: member('extra', '{}'),
  metadata: fromContent((_, content) => JSON.stringify(metadataOf(content))),
  events: member('events', '[]'),
  inputs: member('inputs', '{}'),
  inputs_preview: preview('inputs'),
  outputs: member('outputs'),
  outputs_preview: preview('outputs'),
  manifest: member('serialized'),
  parent_run_ids: fromHead((head) => JSON.stringify(parentsOf(head))),
  project_id: fromHead(({ project }) => quotedId(project)),
  trace_id: fromHead(({ trace }) => quotedId(trace)),
  thread_id: fromHead(({ thread }) => quoted(thread)),
  dotted_order: fromHead((head) => quoted(orderOf(head))),
  is_root: fromHead((head) => String(isRoot(head))),
  reference_example_id: fromHead(({ example }) => quotedId(example)),
  reference_dataset_id: unknownValue,
  total_tokens: fromHead(({ totalTokens }) => numeric(totalTokens)),
  prompt_tokens: fromHead(({ promptTokens }) => numeric(promptTokens)),
  completion_tokens: fromHead(({ completionTokens }) => numeric(completionTokens)),
  total_cost: fromHead(({ totalCost }) => numeric(totalCost)),
  prompt_cost: fromHead(({ promptCost }) => numeric(promptCost)),
  completion_cost: fromHead(({ completionCost }) => numeric(completionCost)),
  prompt_token_details: byKind('promptTokens'),
  completion_token_details: byKind('completionTokens'),
  prompt_cost_details: byKind('promptCost'),
  completion_cost_details: byKind('completionCost'),
  price_model_id: unknownValue,
  tags: member('tags', '[]'),
  app_path: fromHead((head) => quoted(appPath(head))),
  attachments: fromAttachments((attachments) => attachments.map(({ name, url }) => [name, url])),
  ls_user_id: unknownValue,
  thread_evaluation_time: unknownValue,
  is_in_dataset: fromHead(({ example }) => String(example !== null)),
  last_queued_at: unknownValue,
  share_url: unknownValue,
  feedback_stats: fromHead(({ feedback }) => feedbackStats(feedback, spread)),
}

/** Members without which the models of clients refuse a run. */
export const runV2Required: readonly string[] = ['id', 'name', 'run_type']

/** The member that a select names. */
export function runV2Member(select: string): string {
  return select.toLowerCase()
}

/** Members of this API about scores, besides their mean. */
function spread(scores: readonly number[]): Readonly<Record<string, unknown>> {
  const mean = average(scores)
  const isSpread = mean !== null && scores.length > 1
  const squares = isSpread ? scores.reduce((sum, each) => sum + (each - mean) ** 2, 0) : 0
  return {
    min: mean === null ? null : Math.min(...scores),
    max: mean === null ? null : Math.max(...scores),
    stdev: isSpread ? Math.sqrt(squares / (scores.length - 1)) : null,
    errors: 0,
    comments: [],
    sources: [],
    contains_thread_feedback: false,
  }
}
