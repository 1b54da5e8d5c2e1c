/** Spans and traces, as the API of traces has them, and the calls about them. */

import { queryOptions } from '@tanstack/react-query'

import { ask, post } from '../client.ts'
import type { Json, JsonObject } from '../client.ts'

/** `PENDING`: it has begun, and nobody has said how it ended. */
export type SpanStatus = 'PENDING' | 'SUCCESS' | 'ERROR'

/** Numbers of the feedback of one key. */
export interface FeedbackStat {
  readonly n: number
  readonly avg: number | null
  readonly values: Readonly<Record<string, number>>
}

/** Parts of a span that lists and waterfalls show. */
export interface SpanHead {
  readonly id: string
  readonly name: string
  /** `CHAIN`, `LLM`, `TOOL`, `RETRIEVER` … */
  readonly run_type: string
  readonly status: SpanStatus
  readonly start_time: string | null
  readonly end_time: string | null
  readonly total_tokens: number | null
  /** The spans around it, the root first, as far as they are known. */
  readonly parent_run_ids: readonly string[]
}

/** A trace in a list: its root span, and what was seen in and out. */
export interface TraceRow extends Omit<SpanHead, 'parent_run_ids'> {
  readonly trace_id: string
  readonly latency_seconds: number | null
  readonly inputs_preview: string | null
  readonly outputs_preview: string | null
  readonly error_preview: string | null
  readonly tags: readonly string[]
  readonly thread_id: string | null
  readonly total_cost: number | null
  readonly feedback_stats: Readonly<Record<string, FeedbackStat>>
}

/** Numbers by the kind of token, such as `cache_read`. */
export type ByKind = Readonly<Record<string, number>>

/** A span with its payloads. */
export interface Span extends SpanHead {
  readonly project_id: string
  readonly trace_id: string
  readonly thread_id: string | null
  readonly first_token_time: string | null
  readonly error: string | null
  readonly inputs: Json
  readonly outputs: Json
  readonly events: readonly JsonObject[] | null
  readonly metadata: JsonObject | null
  readonly tags: readonly string[] | null
  readonly prompt_tokens: number | null
  readonly completion_tokens: number | null
  readonly prompt_token_details: { readonly raw: ByKind } | null
  readonly completion_token_details: { readonly raw: ByKind } | null
  readonly prompt_cost_details: { readonly raw: ByKind } | null
  readonly completion_cost_details: { readonly raw: ByKind } | null
  readonly total_cost: number | null
  /** Links by name; null if it has none. */
  readonly attachments: Json
  readonly reference_example_id: string | null
}

/** A page of a list. */
export interface SpanPage<Row> {
  readonly items: readonly Row[]
  readonly next_cursor: string | null
}

/** Filter of the traces of a project: one of the API, and the time from which they began. */
export interface TraceQuestion {
  readonly projectId: string
  readonly filter: string | undefined
  readonly fromMs: number
}

const rowFields = ['ID', 'NAME', 'RUN_TYPE', 'STATUS', 'START_TIME', 'END_TIME', 'TRACE_ID',
  'LATENCY_SECONDS', 'INPUTS_PREVIEW', 'OUTPUTS_PREVIEW', 'ERROR_PREVIEW', 'TAGS', 'THREAD_ID',
  'TOTAL_TOKENS', 'TOTAL_COST', 'FEEDBACK_STATS']
/** Fields of a span that waterfalls show. */
export const headFields = ['ID', 'NAME', 'RUN_TYPE', 'STATUS', 'START_TIME', 'END_TIME',
  'TOTAL_TOKENS', 'PARENT_RUN_IDS']
/** All fields of a span, those of waterfalls included. */
export const spanFields = [...headFields, 'PROJECT_ID', 'TRACE_ID', 'THREAD_ID', 'FIRST_TOKEN_TIME',
  'ERROR', 'INPUTS', 'OUTPUTS', 'EVENTS', 'METADATA', 'TAGS', 'PROMPT_TOKENS', 'COMPLETION_TOKENS',
  'PROMPT_TOKEN_DETAILS', 'COMPLETION_TOKEN_DETAILS', 'PROMPT_COST_DETAILS',
  'COMPLETION_COST_DETAILS', 'TOTAL_COST', 'ATTACHMENTS', 'REFERENCE_EXAMPLE_ID']

/** A page of the traces of a project, newest first. */
export const tracePage = ({ projectId, filter, fromMs }: TraceQuestion, cursor: string | null,
  signal?: AbortSignal) =>
  post<SpanPage<TraceRow>>('/api/v2/runs/query', { project_ids: [projectId], is_root: true,
    page_size: 100, min_start_time: fromMs, selects: rowFields, include_subtree_usage: true,
    ...filter !== undefined && { filter }, ...cursor !== null && { cursor } }, signal)

/** Resolves with the number of traces that began after a time: 100 at most. */
export async function newerTraces({ projectId, filter }: TraceQuestion, afterMs: number,
  signal: AbortSignal): Promise<number> {
  const { items } = await post<SpanPage<{ id: string }>>('/api/v2/runs/query', {
    project_ids: [projectId],
    is_root: true,
    page_size: 100,
    min_start_time: afterMs,
    selects: ['ID'],
    ...filter !== undefined && { filter },
  }, signal)
  return items.length
}

/** All spans of a trace without their payloads. */
export const traceSpans = (projectId: string, traceId: string, signal?: AbortSignal) =>
  ask<SpanPage<SpanHead>>(
    `/api/v2/traces/${traceId}/runs?project_id=${projectId}&${selects(headFields)}`,
    { signal },
  )

/** Place of a span. The trace is needed for steps of own runs: only their traces know these. */
export interface SpanPlace {
  readonly projectId: string
  readonly spanId: string
  readonly traceId?: string | undefined
}

/** A span with its payloads; null if it is not there. */
export const spanQuery = ({ projectId, spanId, traceId }: SpanPlace) =>
  queryOptions({
    queryKey: ['spans', projectId, spanId],
    queryFn: async ({ signal }) => {
      const named = { project_ids: [projectId], min_start_time: 0, selects: spanFields,
        include_subtree_usage: true }
      const find = async (how: object) =>
        (await post<SpanPage<Span>>('/api/v2/runs/query', { ...named, ...how }, signal)).items[0]
      return await find({ ids: [spanId] }) ??
        (traceId === undefined
          ? null
          : await find({ trace_id: traceId, filter: `eq(id, "${spanId}")` })) ??
        null
    },
    staleTime: 30_000,
  })

/** The project and the trace of a span that only its id is known of. */
export const placeOfSpan = (id: string, signal?: AbortSignal) =>
  ask<{ readonly session_id: string; readonly trace_id: string }>(`/api/v1/runs/${id}`, {
    signal,
  })

function selects(fields: readonly string[]): string {
  return fields.map((field) => `selects=${field}`).join('&')
}
