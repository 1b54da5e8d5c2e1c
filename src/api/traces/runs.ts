/** Runs of traces: questions about them, their statistics, and deletions of traces. */

import { Type } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, OneOf, Text, Uuid } from '../json.ts'
import { operation } from '../operation.ts'
import { RunPage, TracedRun } from './run-json.ts'
import { RunsQuery } from './run-questions.ts'
import { feedbackStats, RunStats } from './statistics.ts'

const Stats = Type.Partial(
  Type.Object({ ...RunStats.properties, latency_avg: Nullable(Type.Number()) }),
)

const Conversation = Type.Object({
  // The id of the thread, and the filter that finds its runs.
  group_key: Text(),
  filter: Text(),
  count: Type.Integer(),
  latency_p50: Nullable(Type.Number()),
  latency_p99: Nullable(Type.Number()),
  total_tokens: Type.Number(),
  first_inputs: Nullable(Text()),
  last_outputs: Nullable(Text()),
  min_start_time: Text(),
  max_start_time: Text(),
  total_cost: Nullable(Text()),
  feedback_stats: feedbackStats(),
}, { $id: 'RunGroup', description: 'The traces of a conversation.' })

const Grouped = Type.Object({
  session_id: Uuid(),
  group_by: Type.Optional(Text()),
  filter: Maybe(Text(8_192)),
  start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()),
  offset: Maybe(Type.Integer({ minimum: 0, maximum: 10_000 })),
  limit: Maybe(Type.Integer({ minimum: 1, maximum: 100 })),
})

const TraceIds = Type.Array(Uuid(), { maxItems: 1_000 })
const Nothing = Type.Object({})

export const queryRuns = operation('POST', '/api/v1/runs/query', {
  access: 'read',
  summary: 'Find runs of traces',
  body: RunsQuery,
  answer: RunPage,
})

export const validateFilter = operation('POST', '/api/v1/runs/query/validate', {
  access: 'read',
  summary: 'Check a filter of runs',
  body: Type.Object({ filter: Maybe(Text()) }),
  answer: Type.Object({
    valid: Type.Boolean(),
    errors: Type.Array(Type.Object({ field: Text(), message: Text() })),
  }),
})

export const getTracedRun = operation('GET', '/api/v1/runs/:id', {
  access: 'read',
  summary: 'Get a run of a trace',
  answer: TracedRun,
})

export const readRunStats = operation('POST', '/api/v1/runs/stats', {
  access: 'read',
  summary: 'Summarise runs, or each group of them',
  body: Type.Object({
    ...RunsQuery.properties,
    group_by: Maybe(Type.Object({
      attribute: Text(),
      path: Maybe(Text(1_000)),
      max_groups: Maybe(Type.Integer({ minimum: 1, maximum: 100 })),
    })),
  }),
  answer: Type.Union([Type.Record(Type.String(), Stats), Stats]),
})

export const groupRuns = operation('POST', '/api/v1/runs/group', {
  access: 'read',
  summary: 'List conversations',
  body: Grouped,
  answer: Type.Object({ groups: Type.Array(Conversation), total: Type.Integer() }),
})

export const readGroupStats = operation('POST', '/api/v1/runs/group/stats', {
  access: 'read',
  summary: 'Summarise conversations',
  body: Grouped,
  answer: Type.Object({ ...RunStats.properties, group_count: Type.Integer() }),
})

export const exportRuns = operation('POST', '/api/v1/runs/export', {
  access: 'read',
  summary: 'Export runs, as lines of JSON that can be sent in again',
  body: Type.Object({ ...RunsQuery.properties, format: Type.Optional(OneOf(['jsonl', 'otlp'])) }),
  media: 'application/x-ndjson',
})

export const deleteRuns = operation('POST', '/api/v1/runs/delete', {
  access: 'change',
  summary: 'Delete traces by their ids, or by the metadata of their roots',
  body: Type.Object({
    session_id: Uuid(),
    trace_ids: Maybe(TraceIds),
    metadata: Maybe(JsonObject({ maxProperties: 10 })),
  }),
  answer: Nothing,
  status: 202,
})

export const deleteTraces = operation('POST', '/api/v1/runs/delete/traces', {
  access: 'change',
  summary: 'Delete traces by their ids',
  body: Type.Object({ session_id: Uuid(), trace_ids: TraceIds }),
  answer: Nothing,
  status: 202,
})
