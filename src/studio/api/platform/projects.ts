/** Projects of traces, which the API calls sessions, their statistics and their charts. */

import { queryOptions } from '@tanstack/react-query'

import type { ChartPoint, Project as ProjectJson, RunStats } from '../../../api/index.ts'
import { ask, askPage } from '../ask.ts'
import type { TraceQuestion } from './traces.ts'

type Statistic = 'run_count' | 'error_rate' | 'latency_p50' | 'latency_p99' | 'total_tokens'
  | 'total_cost' | 'prompt_token_details' | 'completion_token_details' | 'last_run_start_time'
  | 'feedback_stats'

/** A project of traces. Statistics are there if they were asked for. */
export type Project =
  & Pick<ProjectJson, 'id' | 'name' | 'description' | 'start_time'>
  & Partial<Pick<ProjectJson, Statistic>>

/** Statistics of traces. Latencies are seconds, costs US dollars as texts. */
export type TraceStats = Pick<RunStats, Statistic>

/** Number of projects on a page. */
export const projectsAtOnce = 100

/** A page of projects whose names contain a text, with or without their statistics. */
export async function projectPage(q: string, offset: number, withStats: boolean,
  signal: AbortSignal): Promise<{ readonly projects: readonly Project[]; readonly total: number }> {
  const { data, headers } = await askPage('GET /api/v1/sessions', { signal,
    query: { limit: projectsAtOnce, offset, reference_free: true, ...q !== '' && {
      name_contains: q,
    }, ...withStats && { include_stats: true } } })
  return { projects: data, total: Number(headers.get('x-pagination-total') ?? data.length) }
}

/** A project with the statistics of all its traces. */
export const projectQuery = (id: string) =>
  queryOptions({
    queryKey: ['projects', id],
    queryFn: ({ signal }) =>
      ask('GET /api/v1/sessions/:id', { params: { id }, query: { include_stats: true }, signal }),
    staleTime: 10_000,
  })

/** The newest projects, for a choice of one. */
export const projectNames = queryOptions({
  queryKey: ['projects', 'names'],
  queryFn: async ({ signal }) => (await projectPage('', 0, false, signal)).projects,
  staleTime: 10_000,
})

/** Statistics of the traces of a project that a filter finds. */
export const traceStats = async ({ projectId, filter, fromMs }: TraceQuestion,
  signal: AbortSignal): Promise<TraceStats> =>
  await ask('POST /api/v1/runs/stats', { signal,
    body: { session: [projectId], is_root: true, ...fromMs > 0 && { start_time: fromMs },
      ...filter !== undefined && { filter } } }) as TraceStats

/** Metrics in the charts of a project; the ids of series are these words. */
export const chartMetrics = ['run_count', 'error_rate', 'latency_p50', 'latency_p99',
  'prompt_tokens', 'completion_tokens'] as const

/** The values of the charts of the traces that a filter finds. */
export async function chartPoints({ projectId, filter, fromMs }: TraceQuestion, toMs: number,
  signal: AbortSignal): Promise<readonly ChartPoint[]> {
  const roots = 'eq(is_root, true)'
  const { data } = await ask('POST /api/v1/charts/preview', { signal, body: {
    bucket_info: { start_time: fromMs, end_time: toMs },
    chart: {
      common_filters: { session: [projectId],
        filter: filter === undefined ? roots : `and(${roots}, ${filter})` },
      series: chartMetrics.map((metric) => ({ name: metric, metric })),
    },
  } })
  return data.map((point) => ({ ...point,
    series_id: chartMetrics[Number(point.series_id)] ?? point.series_id })
  )
}
