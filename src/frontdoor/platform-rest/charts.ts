/** Routes of charts: records of what to draw, and the values for a time. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { limitConcurrency } from '../../../cluster/index.ts'
import { createChart, createSection, deleteChart, deleteSection, listSections, patchChart,
  patchSection, previewChart, readChart, readDashboards, readProjectDashboard,
  readSection } from '../../api/index.ts'
import type { Chart as ChartJson, ChartPoint, ChartSection,
  ChartWindowBody } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { chartJson, dashboardOf, looseSection, projectsOfChart, sectionJson, seriesQuestion,
  windowOf } from '../../platform/index.ts'
import type { Chart, ChartWindow, Uuid } from '../../platform/index.ts'
import { leftSignal } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import { projectOf, projectsOf } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { requireId } from './path-id.ts'

/** Charts of one answer that have their values, how many are made at once, and values of all. */
const [drawnMax, drawnAtOnce, valuesMax] = [50, 2, 50_000]

/** Adds the routes of dashboards, of charts and of their sections. */
export function chartRoutes(app: App, parts: PlatformParts): void {
  const { platform: { charts } } = parts

  serve(app, readDashboards, async (request, reply) => {
    const { tenant } = request.caller
    const { charts: all, sections } = await charts.all(tenant)
    const loose = looseIn(sections, all)
    const drawn = await draw(parts, request, reply, all)
    return { sections: [
      ...loose.length > 0 ? [sectionJson(looseSection(tenant), loose.map(drawn))] : [],
      ...sections.map((section) => sectionJson(section, chartsIn(section, all).map(drawn))),
    ] }
  })
  serve(app, createChart,
    async ({ body, caller: { tenant } }) => chartJson(await charts.create(tenant, body)))
  serve(app, previewChart, async (request, reply) => {
    const { bucket_info: window, chart } = request.body
    const series = chart.series.map((each, at) => ({ ...each, id: each.id ?? String(at) }))
    const data = await dataOf(parts, request, reply, { series,
      common_filters: chart.common_filters ?? null }, windowOf(window, parts.env.nowMs()))
    return { data }
  })
  serve(app, readChart, async (request, reply) => {
    const chart = await charts.get(request.caller.tenant, requireId(request.params.id, 'chart'))
    return (await draw(parts, request, reply, [chart]))(chart)
  })
  serve(app, patchChart,
    async ({ params, body, caller: { tenant } }) =>
      chartJson(await charts.patch(tenant, requireId(params.id, 'chart'), body)))
  serve(app, deleteChart,
    async ({ params, caller: { tenant } }) => charts.delete(tenant, requireId(params.id, 'chart')))
  sectionRoutes(app, parts)
}

function sectionRoutes(app: App, parts: PlatformParts): void {
  const { platform: { charts } } = parts

  serve(app, listSections, async ({ caller: { tenant } }) => (await charts.all(tenant)).sections)
  serve(app, createSection,
    async ({ body, caller: { tenant } }) => charts.createSection(tenant, body))
  serve(app, readSection, async (request, reply) => {
    const { tenant } = request.caller
    const id = requireId(request.params.id, 'section')
    const loose = looseSection(tenant)
    const section = id === loose.id ? loose : await charts.getSection(tenant, id)
    const { charts: all, sections } = await charts.all(tenant)
    const mine = section === loose ? looseIn(sections, all) : chartsIn(section, all)
    return sectionJson(section, mine.map(await draw(parts, request, reply, mine)))
  })
  serve(app, patchSection,
    async ({ params, body, caller: { tenant } }) =>
      charts.patchSection(tenant, requireId(params.id, 'section'), body))
  serve(app, deleteSection,
    async ({ params, caller: { tenant } }) =>
      charts.deleteSection(tenant, requireId(params.id, 'section')))
  serve(app, readProjectDashboard, async (request, reply) => {
    const { id, name } = await projectOf(parts.platform, request,
      requireId(request.params.id, 'project'))
    const ready = dashboardOf(id)
    const drawn = await draw(parts, request, reply, ready)
    const section = { id, title: name, description: null, index: 0 }
    return { ...sectionJson(section, ready.map(drawn)), session_id: id }
  })
}

function chartsIn({ id }: ChartSection, charts: readonly Chart[]): readonly Chart[] {
  return charts.filter(({ section_id: section }) => section === id)
}

function looseIn(sections: readonly ChartSection[], charts: readonly Chart[]): readonly Chart[] {
  const known = new Set(sections.map(({ id }) => id))
  return charts.filter(({ section_id: id }) => id === null || !known.has(id))
}

/** A request for the values of a time. */
type Asking = Pick<FastifyRequest, 'caller'> & { readonly body: ChartWindowBody }

type Drawn = (chart: Chart) => ChartJson

/**
 * The values of charts for the window in the body, unless it wants none. Among several charts, one
 * that cannot be drawn has no values: the others are worth more than an error.
 */
async function draw(parts: PlatformParts, request: Asking, reply: FastifyReply,
  charts: readonly Chart[]): Promise<Drawn> {
  const { omit_data: omit, ...asked } = request.body
  if (omit) return (chart) => chartJson(chart)
  const window = windowOf(asked, parts.env.nowMs())
  const inTurn = limitConcurrency(drawnAtOnce)
  const data = new Map<Uuid, readonly ChartPoint[]>()
  let values = 0
  await Promise.all(charts.slice(0, drawnMax).map((chart) =>
    inTurn(async () => {
      if (values >= valuesMax) return
      const own = await dataOf(parts, request, reply, chart, window).catch((error: unknown) => {
        if (charts.length === 1 || HeddleError.from(error).httpStatus >= 500) throw error
        return []
      })
      values += own.length
      data.set(chart.id, own)
    })
  ))
  return (chart) => chartJson(chart, data.get(chart.id))
}

/** The values of a chart. Projects that are gone have none. */
async function dataOf({ platform }: PlatformParts, request: Pick<FastifyRequest, 'caller'>,
  reply: FastifyReply, chart: Pick<Chart, 'series' | 'common_filters'>,
  window: ChartWindow): Promise<readonly ChartPoint[]> {
  const projects = await projectsOf(platform, request, projectsOfChart(chart))
  if (projects.length === 0) return []
  const question = seriesQuestion(request.caller.tenant, chart, projects, window)
  const json = await platform.query.series(question, { signal: leftSignal(reply) })
  const { data } = JSON.parse(Buffer.from(json).toString()) as {
    readonly data: readonly ChartPoint[]
  }
  return data
}
