/** Runs, traces and conversations in the second API. */

import { Type } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import { RunPageV2, TracedRunV2 } from './run-json.ts'
import { RunsQueryV2 } from './run-questions.ts'
import { feedbackStatsV2 } from './statistics.ts'

const number = () => Nullable(Type.Number())
const cursor = () => Nullable(Text())

const Trace = Type.Object({
  root_run: TracedRunV2,
  trace_aggregates: Type.Object({ first_token_time: Nullable(Text()), total_tokens: number(),
    total_cost: number() }),
}, { $id: 'Trace', description: 'The root of a trace, with the sums over its runs.' })

const Conversation = Type.Object({
  thread_id: Text(),
  count: Type.Integer(),
  latency_p50: number(),
  latency_p99: number(),
  total_tokens: Type.Number(),
  first_inputs: Nullable(Text()),
  last_inputs: Nullable(Text()),
  last_outputs: Nullable(Text()),
  trace_id: Uuid(),
  first_trace_id: Uuid(),
  last_trace_id: Uuid(),
  start_time: Text(),
  min_start_time: Text(),
  max_start_time: Text(),
  num_errored_turns: Type.Integer(),
  last_error: Nullable(Text()),
  total_cost: Type.Number(),
  total_token_details: Type.Record(Type.String(), Type.Number()),
  total_cost_details: Type.Record(Type.String(), Type.Number()),
  feedback_stats: feedbackStatsV2(),
}, { $id: 'Conversation', description: 'A conversation: the traces of a thread.' })

// The members that were selected.
const Selected = JsonObject({ description: 'The statistics that are selected.' })

const ReadRun = Type.Object({
  project_id: Maybe(Uuid()),
  session_id: Maybe(Uuid()),
  trace_id: Maybe(Uuid()),
  start_time: Type.Optional(Text()),
  selects: Type.Optional(Type.Array(Text(), { maxItems: 200 })),
})

const filter = () => Maybe(Text(8_192))
const select = (options: object = {}) => Type.Array(Text(100), { maxItems: 100, ...options })

export const queryRunsV2 = operation('POST', '/api/v2/runs/query', {
  access: 'read',
  summary: 'Find runs of traces',
  body: RunsQueryV2,
  answer: RunPageV2,
})

export const queryTraces = operation('POST', '/api/v2/traces/query', {
  access: 'read',
  summary: 'Find traces',
  body: RunsQueryV2,
  answer: Type.Object({ items: Type.Array(Trace), next_cursor: cursor() }),
})

export const queryConversations = operation('POST', '/api/v2/threads/query', {
  access: 'read',
  summary: 'Find conversations',
  body: RunsQueryV2,
  answer: Type.Object({ items: Type.Array(Conversation), next_cursor: cursor() }),
})

export const listRunsOfTrace = operation('GET', '/api/v2/traces/:id/runs', {
  access: 'read',
  summary: 'List the runs of a trace',
  query: ReadRun,
  answer: Type.Object({ items: Type.Array(TracedRunV2) }),
})

export const listTracesOfConversation = operation('GET', '/api/v2/threads/:id/traces', {
  access: 'read',
  summary: 'List the traces of a conversation',
  query: ReadRun,
  answer: Type.Object({ items: Type.Array(Trace), next_cursor: cursor() }),
})

export const getRunUrl = operation('GET', '/api/v2/runs/:id/url', {
  access: 'read',
  summary: 'Get the address of the page that shows a run',
  query: ReadRun,
  answer: Type.Object({ url: Text() }),
})

export const getTracedRunV2 = operation('GET', '/api/v2/runs/:id', {
  access: 'read',
  summary: 'Get a run of a trace',
  query: ReadRun,
  answer: TracedRunV2,
})

export const readConversationsStats = operation('POST', '/api/v2/threads/stats', {
  access: 'read',
  summary: 'Summarise conversations',
  body: Type.Object({ project_id: Uuid(), select: select({ minItems: 1 }), filter: filter(),
    trace_filter: filter(), tree_filter: filter(), thread_filter: filter(),
    min_start_time: Type.Optional(Json()), max_start_time: Type.Optional(Json()) }),
  answer: Selected,
})

export const readConversationStats = operation('GET', '/api/v2/threads/:id/stats', {
  access: 'read',
  summary: 'Summarise a conversation',
  query: Type.Object({ session_id: Uuid(), selects: select(), filter: filter() }),
  answer: Selected,
})
