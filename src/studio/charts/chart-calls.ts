/** Calls about charts and the dashboards that they stand in, which the API calls sections. */

import { queryOptions } from '@tanstack/react-query'

import type { Chart, ChartBody } from '../../api/index.ts'
import { ask } from '../api/ask.ts'
import { pollEvery } from '../api/poll.ts'
import type { PlotWindow } from '../plot/chart-scale.ts'

const windowBody = ({ fromMs, toMs }: PlotWindow) => ({ start_time: fromMs, end_time: toMs })

/** All dashboards with their charts, without values. */
export const dashboardList = queryOptions({
  queryKey: ['charts', 'dashboards'],
  queryFn: async ({ signal }) =>
    (await ask('POST /api/v1/charts', { body: { omit_data: true }, signal })).sections,
  staleTime: 10_000,
})

/** The values of the charts of a dashboard, by chart. They are asked for again each minute. */
export const dashboardValues = (id: string, time: string, window: () => PlotWindow) =>
  queryOptions({
    queryKey: ['charts', 'values', id, time],
    queryFn: async ({ signal }) => {
      const shown = window()
      const { charts } = await ask('POST /api/v1/charts/section/:id', { params: { id },
        body: windowBody(shown), signal })
      return { window: shown, values: new Map(charts.map((chart) => [chart.id, chart.data])) }
    },
    staleTime: 30_000,
    refetchInterval: pollEvery(60_000),
    refetchOnWindowFocus: false,
  })

/** A chart as the page writes it. */
export type WrittenChart =
  & ChartBody
  & Pick<Chart, 'title'>
  & { readonly series: NonNullable<ChartBody['series']> }

/** The values of a chart that is not kept yet. Its series have their numbers as ids. */
export const previewChart = async (chart: Pick<WrittenChart, 'series' | 'common_filters'>,
  window: PlotWindow, signal?: AbortSignal) =>
  (await ask('POST /api/v1/charts/preview', { signal, body: {
    bucket_info: windowBody(window),
    chart: { common_filters: chart.common_filters,
      series: chart.series.map((series, at) => ({ ...series, id: undefined, name: String(at) })) },
  } })).data

/** Makes a chart from what its editor wrote. */
export const createChart = (body: WrittenChart) => ask('POST /api/v1/charts/create', { body })

/** Changes a chart: what is absent stays. */
export const changeChart = (id: string, body: ChartBody) =>
  ask('PATCH /api/v1/charts/:id', { params: { id }, body })

/** Deletes a chart by its id. */
export const deleteChart = (id: string) => ask('DELETE /api/v1/charts/:id', { params: { id } })

/** Makes a dashboard at an index among the others. */
export const createDashboard = (title: string, index: number) =>
  ask('POST /api/v1/charts/section', { body: { title, index } })

/** Gives a dashboard another title. */
export const renameDashboard = (id: string, title: string) =>
  ask('PATCH /api/v1/charts/section/:id', { params: { id }, body: { title } })

/** Deletes a dashboard with its charts. */
export const deleteDashboard = (id: string) =>
  ask('DELETE /api/v1/charts/section/:id', { params: { id } })

/** The charts that every project has, without values. */
export const usualCharts = async (project: string) =>
  (await ask('POST /api/v1/sessions/:id/dashboard', { params: { id: project },
    body: { omit_data: true } })).charts
