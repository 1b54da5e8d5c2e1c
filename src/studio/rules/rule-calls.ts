/** Rules, what they did, and the calls about them. */

import { queryOptions } from '@tanstack/react-query'

import { ask, post } from '../api/client.ts'
import type { JsonObject } from '../api/client.ts'
import { pollEvery } from '../api/poll.ts'

/** A judge: a prompt for a model, or a graph of the server. */
export interface Judge {
  readonly structured?: {
    readonly hub_ref?: string | null
    readonly prompt?: unknown
    readonly template_format?: string | null
    readonly schema?: JsonObject | null
    readonly variable_mapping?: Readonly<Record<string, string>> | null
    readonly model?: JsonObject | null
  } | null
  readonly graph_id?: string | null
}

/** A call to an endpoint. */
export interface Webhook {
  readonly url: string
  readonly headers?: Readonly<Record<string, string>> | null
}

/** A bound on a statistic. */
export interface Alert extends Webhook {
  readonly metric: string
  readonly threshold: number
  readonly window_minutes: number
  /** Above by default. */
  readonly comparison?: 'above' | 'below' | null
}

/** What a rule says. */
export interface RuleBody {
  readonly display_name: string
  readonly session_id: string | null
  readonly dataset_id: string | null
  readonly is_enabled: boolean
  readonly sampling_rate: number
  readonly filter: string | null
  readonly add_to_annotation_queue_id: string | null
  readonly add_to_dataset_id: string | null
  readonly webhooks: readonly Webhook[] | null
  readonly evaluators: readonly Judge[] | null
  readonly alerts: readonly Alert[] | null
  readonly spend_limit: { readonly calls_per_day?: number | null;
    readonly tokens_per_day?: number | null } | null
}

/** What a rule has done. */
export interface RuleState {
  readonly last_applied_at: string | null
  readonly read_until: string | null
  readonly looked_at: number
  readonly applied: number
  readonly failed: number
  readonly last_error: { readonly time: string; readonly message: string } | null
  readonly backfill: { readonly start_time: string; readonly end_time: string;
    readonly looked_at: number; readonly applied: number } | null
  readonly backfill_completed_at: string | null
  readonly spent: { readonly calls: number; readonly tokens: number }
  readonly alerts_firing: number
}

/** A rule in a list. */
export interface Rule extends RuleBody {
  readonly id: string
  readonly session_name: string | null
  readonly dataset_name: string | null
  readonly evaluator_id: string | null
  readonly state?: RuleState | null
}

/** A line of the log of a rule. */
export interface RuleLine {
  readonly id: number
  readonly time: string
  readonly outcome: 'done' | 'failed' | 'skipped' | 'alert'
  readonly run_id?: string
  readonly trace_id?: string
  readonly session_id?: string
  readonly message: string
  readonly actions: readonly { readonly kind: string; readonly outcome: string;
    readonly message: string; readonly judge_run_id?: string }[]
}

/** What a judge says of one run. */
export interface Verdicts {
  readonly feedback: readonly { readonly key: string; readonly score: number | boolean | null;
    readonly value: string | null; readonly comment: string | null }[]
  readonly judge_run_id: string
}

/** All rules with their states: asked again while somebody looks. */
export const ruleList = queryOptions({
  queryKey: ['rules'],
  queryFn: ({ signal }) =>
    ask<readonly Rule[]>('/api/v1/runs/rules?include_state=true', {
      signal,
    }),
  refetchInterval: pollEvery(5_000),
})

/** One rule. */
export const ruleQuery = (id: string) =>
  queryOptions({
    queryKey: ['rules', id],
    queryFn: ({ signal }) => ask<Rule>(`/api/v1/runs/rules/${id}`, { signal }),
  })

/** What a rule has done so far. */
export const ruleState = (id: string) =>
  queryOptions({
    queryKey: ['rules', id, 'state'],
    queryFn: ({ signal }) => ask<RuleState>(`/api/v1/runs/rules/${id}/last_applied`, { signal }),
    // Somebody who began to go over the past waits for it.
    refetchInterval: (query) => pollEvery(query.state.data?.backfill ? 1_000 : 3_000)(query),
  })

/** Lines of a page of the log. */
export const linesAtOnce = 100

/** A page of the log, newest first. */
export const ruleLines = (id: string, before: number | null, signal: AbortSignal) =>
  ask<readonly RuleLine[]>(`/api/v1/runs/rules/${id}/logs?limit=${linesAtOnce}` +
    (before === null ? '' : `&before=${before}`), { signal })

/** Makes a rule. */
export const createRule = (body: Partial<RuleBody>) => post<Rule>('/api/v1/runs/rules', body)

/** Changes a rule: what is absent stays. */
export const changeRule = (id: string, body: Partial<RuleBody>) =>
  ask<Rule>(`/api/v1/runs/rules/${id}`, { method: 'PATCH', body })

/** Deletes a rule. */
export const deleteRule = (id: string) =>
  ask<unknown>(`/api/v1/runs/rules/${id}`, { method: 'DELETE' })

/** Goes over the runs that began from then on. */
export const triggerRule = (id: string, fromMs: number) =>
  post<RuleState>(`/api/v1/runs/rules/${id}/trigger`, { start_time: fromMs })

/** How many runs of a project began from then on and meet a filter. */
export const countRuns = async (project: string, filter: string, fromMs: number) =>
  (await post<{ readonly run_count: number }>('/api/v1/runs/stats', { session: [project],
    start_time: fromMs, select: ['run_count'], ...filter !== '' && { filter } })).run_count

/** Asks a judge about one run and keeps nothing of what it says. */
export const tryJudge = (evaluator: Judge, run: string) =>
  post<Verdicts>('/api/v1/runs/rules/judge', { evaluator, run_id: run })

/** The newest run of a project that meets a filter. */
export async function newestRun(project: string, filter: string): Promise<string | undefined> {
  const { items } = await post<{ readonly items: readonly { readonly id: string }[] }>(
    '/api/v2/runs/query',
    { project_ids: [project], page_size: 1, selects: ['ID'], min_start_time: 0,
      ...filter !== '' && { filter } },
  )
  return items[0]?.id
}

/** Datasets by name. */
export const datasetNames = queryOptions({
  queryKey: ['datasets', 'names'],
  queryFn: ({ signal }) =>
    ask<readonly { readonly id: string; readonly name: string }[]>('/api/v1/datasets?limit=100', {
      signal,
    }),
  retry: false,
})

/** Annotation queues by name. */
export const queueNames = queryOptions({
  queryKey: ['queues', 'names'],
  queryFn: ({ signal }) =>
    ask<readonly { readonly id: string; readonly name: string }[]>(
      '/api/v1/annotation-queues?limit=100',
      { signal },
    ),
  retry: false,
})
