/** Charts and the dashboards that they stand in, which the API calls sections. */

import { queryOptions } from '@tanstack/react-query'

import { ask, post } from '../api/client.ts'
import { pollEvery } from '../api/poll.ts'

/** Which runs a chart or a series is about. */
export interface ChartFilters {
  readonly session?: readonly string[] | null
  readonly filter?: string | null
  readonly trace_filter?: string | null
  readonly tree_filter?: string | null
}

/** A line, or the bars of one kind; grouped, it is several. */
export interface ChartSeries {
  readonly id?: string
  readonly name: string
  readonly metric: string
  readonly filters?: ChartFilters | null
  readonly feedback_key?: string | null
  readonly group_by?: { readonly attribute: string; readonly path?: string | null;
    readonly max_groups?: number | null } | null
}

/** A value of a series, in the step that begins then. */
export interface ChartPoint {
  readonly series_id: string
  /** A time without its zone, which is UTC. */
  readonly timestamp: string
  readonly value: unknown
  readonly group: string | null
}

/** What is said of a chart. */
export interface ChartBody {
  readonly title: string
  readonly description: string | null
  readonly chart_type: string
  readonly series: readonly ChartSeries[]
  readonly index: number
  readonly section_id: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly common_filters: ChartFilters | null
}

/** A chart, with its values if they were asked for. */
export interface Chart extends ChartBody {
  readonly id: string
  readonly data: readonly ChartPoint[]
}

/** A dashboard. */
export interface Dashboard {
  readonly id: string
  readonly title: string
  readonly index: number
  readonly charts: readonly Chart[]
}

/** The times of a drawing, milliseconds since 1970. */
export interface ChartWindow {
  readonly fromMs: number
  readonly toMs: number
}

const root = '/api/v1/charts'
const windowBody = ({ fromMs, toMs }: ChartWindow) => ({ start_time: fromMs, end_time: toMs })

/** All dashboards with their charts, without values. */
export const dashboardList = queryOptions({
  queryKey: ['charts', 'dashboards'],
  queryFn: async ({ signal }) =>
    (await post<{ readonly sections: readonly Dashboard[] }>(root, { omit_data: true }, signal))
      .sections,
  staleTime: 10_000,
})

/** The values of the charts of a dashboard, by chart. They are asked for again each minute. */
export const dashboardValues = (id: string, time: string, window: () => ChartWindow) =>
  queryOptions({
    queryKey: ['charts', 'values', id, time],
    queryFn: async ({ signal }) => {
      const shown = window()
      const { charts } = await post<Dashboard>(`${root}/section/${id}`, windowBody(shown), signal)
      return { window: shown, values: new Map(charts.map((chart) => [chart.id, chart.data])) }
    },
    staleTime: 30_000,
    refetchInterval: pollEvery(60_000),
    refetchOnWindowFocus: false,
  })

/** The values of a chart that is not kept yet. Its series have their numbers as ids. */
export const previewChart = async (chart: Pick<ChartBody, 'series' | 'common_filters'>,
  window: ChartWindow, signal?: AbortSignal) =>
  (await post<{ readonly data: readonly ChartPoint[] }>(`${root}/preview`, {
    bucket_info: windowBody(window),
    chart: { common_filters: chart.common_filters,
      series: chart.series.map((series, at) => ({ ...series, id: undefined, name: String(at) })) },
  }, signal)).data

/** Makes a chart. */
export const createChart = (body: Partial<ChartBody>) => post<Chart>(`${root}/create`, body)

/** Changes a chart: what is absent stays. */
export const changeChart = (id: string, body: Partial<ChartBody>) =>
  ask<Chart>(`${root}/${id}`, { method: 'PATCH', body })

/** Deletes a chart. */
export const deleteChart = (id: string) => ask<unknown>(`${root}/${id}`, { method: 'DELETE' })

/** Makes a dashboard. */
export const createDashboard = (title: string, index: number) =>
  post<Dashboard>(`${root}/section`, { title, index })

/** Renames a dashboard. */
export const renameDashboard = (id: string, title: string) =>
  ask<Dashboard>(`${root}/section/${id}`, { method: 'PATCH', body: { title } })

/** Deletes a dashboard with its charts. */
export const deleteDashboard = (id: string) =>
  ask<unknown>(`${root}/section/${id}`, { method: 'DELETE' })

/** The charts that every project has, without values. */
export const usualCharts = async (project: string) =>
  (await post<Dashboard>(`/api/v1/sessions/${project}/dashboard`, { omit_data: true })).charts
