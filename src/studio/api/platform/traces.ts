/** Spans and traces, as the API of traces has them, and the calls about them. */

import { queryOptions } from '@tanstack/react-query'

import type { RunsQueryV2, TracedRunV2 } from '../../../api/index.ts'
import { ask } from '../ask.ts'
import type { Json, JsonObject } from '../client.ts'

/** A field of a span, as a call selects it: the name of a member in upper case. */
export type SpanField = Uppercase<keyof TracedRunV2>

/** A span with the members that a call selects. */
export type SpanWith<Field extends SpanField> = Required<
  Pick<TracedRunV2, Lowercase<Field> & keyof TracedRunV2>
>

/** `PENDING`: it has begun, and nobody has said how it ended. */
export type SpanStatus = SpanWith<'STATUS'>['status']

/** Numbers of the feedback of one key. */
export type FeedbackStat = Pick<SpanWith<'FEEDBACK_STATS'>['feedback_stats'][string],
  'n' | 'avg' | 'values'>

/** Parts of a span that lists and waterfalls show. */
export type SpanHead = SpanWith<typeof headFields[number]>

/** A trace in a list: its root span, and what was seen in and out. */
export type TraceRow = SpanWith<typeof rowFields[number]> & {
  readonly tags: readonly string[]
  /** Absent unless the question asks for it. */
  readonly metadata?: JsonObject | null
}

/** Numbers by the kind of token, such as `cache_read`. */
export type ByKind = Readonly<Record<string, number>>

/** A span with its payloads. */
export type Span =
  & SpanWith<typeof spanFields[number]>
  & {
    readonly inputs: Json
    readonly outputs: Json
    readonly events: readonly JsonObject[] | null
    readonly metadata: JsonObject | null
    readonly tags: readonly string[] | null
    /** Links by name; null if it has none. */
    readonly attachments: Json
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
  /** Rows of the list: roots without it, else all runs, or the calls of models. */
  readonly rows?: 'runs' | 'calls' | undefined
  /** True for the oldest first. */
  readonly oldest?: boolean | undefined
  /** True if the rows have their metadata. */
  readonly metadata?: boolean | undefined
}

const rowFields = ['ID', 'NAME', 'RUN_TYPE', 'STATUS', 'START_TIME', 'END_TIME', 'TRACE_ID',
  'LATENCY_SECONDS', 'INPUTS_PREVIEW', 'OUTPUTS_PREVIEW', 'ERROR_PREVIEW', 'TAGS', 'THREAD_ID',
  'TOTAL_TOKENS', 'TOTAL_COST', 'FEEDBACK_STATS'] as const satisfies readonly SpanField[]

/** Fields of a span that waterfalls show. */
export const headFields = ['ID', 'NAME', 'RUN_TYPE', 'STATUS', 'START_TIME', 'END_TIME',
  'TOTAL_TOKENS', 'PARENT_RUN_IDS'] as const satisfies readonly SpanField[]

/** All fields of a span, those of waterfalls included. */
export const spanFields = [...headFields, 'PROJECT_ID', 'TRACE_ID', 'THREAD_ID', 'FIRST_TOKEN_TIME',
  'ERROR', 'INPUTS', 'OUTPUTS', 'EVENTS', 'METADATA', 'TAGS', 'PROMPT_TOKENS', 'COMPLETION_TOKENS',
  'PROMPT_TOKEN_DETAILS', 'COMPLETION_TOKEN_DETAILS', 'PROMPT_COST_DETAILS',
  'COMPLETION_COST_DETAILS', 'TOTAL_COST', 'ATTACHMENTS',
  'REFERENCE_EXAMPLE_ID'] as const satisfies readonly SpanField[]

/** The part of a question that says which runs are its rows. */
const asked = ({ projectId, filter, rows, oldest = false }: TraceQuestion): RunsQueryV2 => ({
  project_ids: [projectId],
  ...rows === undefined && { is_root: true },
  ...rows === 'calls' && { run_type: 'llm' },
  ...oldest && { sort_order: 'asc' },
  ...filter !== undefined && { filter },
})

/** A page of the traces of a project, newest first unless the question says otherwise. */
export const tracePage = async (question: TraceQuestion, cursor: string | null,
  signal?: AbortSignal) =>
  await ask('POST /api/v2/runs/query', { signal,
    body: { ...asked(question), page_size: 100, min_start_time: question.fromMs,
      selects: question.metadata ? [...rowFields, 'METADATA'] : rowFields,
      include_subtree_usage: true, ...cursor !== null && { cursor } } }) as SpanPage<TraceRow>

/** The ids of runs that match, 1 000 of them, and where the next ones begin. */
export async function matchingPage(question: TraceQuestion, cursor: string | null,
  signal?: AbortSignal
): Promise<{ readonly ids: readonly string[]; readonly cursor: string | null }> {
  const { items, next_cursor: next } = await ask('POST /api/v2/runs/query', { signal,
    body: { ...asked(question), page_size: 1_000, min_start_time: question.fromMs, selects: ['ID'],
      ...cursor !== null && { cursor } } }) as SpanPage<{ readonly id: string }>
  return { ids: items.map(({ id }) => id), cursor: next }
}

/** The inputs and outputs of runs by their ids. */
export async function spansById(projectId: string, ids: readonly string[],
  signal?: AbortSignal): Promise<readonly Pick<Span, 'id' | 'inputs' | 'outputs'>[]> {
  const { items } = await ask('POST /api/v2/runs/query', { signal,
    body: { project_ids: [projectId], ids: [...ids], min_start_time: 0, page_size: ids.length,
      selects: ['ID', 'INPUTS', 'OUTPUTS'] } }) as SpanPage<Span>
  return items
}

/** Deletes traces with all their spans, 1 000 at most. */
export const deleteTraces = (projectId: string, ids: readonly string[]) =>
  ask('POST /api/v1/runs/delete/traces', { body: { session_id: projectId, trace_ids: [...ids] } })

/** Resolves with the number of traces that began after a time: 100 at most. */
export async function newerTraces(question: TraceQuestion, afterMs: number,
  signal: AbortSignal): Promise<number> {
  const { items } = await ask('POST /api/v2/runs/query', { signal,
    body: { ...asked(question), page_size: 100, min_start_time: afterMs, selects: ['ID'] } })
  return items.length
}

/** All spans of a trace without their payloads. */
export const traceSpans = async (projectId: string, traceId: string, signal?: AbortSignal) =>
  await ask('GET /api/v2/traces/:id/runs', { params: { id: traceId }, signal,
    query: { project_id: projectId, selects: headFields } }) as { items: readonly SpanHead[] }

/** Ids of the spans of a trace whose texts have words: 1 000 at most. */
export async function spansWithWords(projectId: string, traceId: string, words: string,
  signal?: AbortSignal): Promise<ReadonlySet<string>> {
  const { items } = await ask('POST /api/v2/runs/query', { signal,
    body: { project_ids: [projectId], trace_id: traceId, min_start_time: 0, page_size: 1_000,
      selects: ['ID'], filter: `search(${JSON.stringify(words)})` } })
  return new Set((items as readonly { readonly id: string }[]).map(({ id }) => id))
}

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
      const find = async (which: RunsQueryV2) => {
        const { items: [span] } = await ask('POST /api/v2/runs/query', { signal,
          body: { project_ids: [projectId], min_start_time: 0, selects: spanFields,
            include_subtree_usage: true, ...which } })
        return span as Span | undefined
      }
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
  ask('GET /api/v1/runs/:id', { params: { id }, signal })
