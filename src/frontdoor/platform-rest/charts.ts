/** Routes of charts: records of what to draw, and the values for a time. */

import type { FastifyReply, FastifyRequest } from 'fastify'
import { Type } from 'typebox'
import type { Static } from 'typebox'

import { limitConcurrency } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { chartJson, dashboardOf, looseSection, projectsOfChart, sectionJson, seriesQuestion,
  windowOf } from '../../platform/index.ts'
import type { Chart, ChartPoint, ChartSection, ChartWindow, Uuid } from '../../platform/index.ts'
import { leftSignal } from '../http/list-reply.ts'
import type { App } from '../http/route.ts'
import { Json, JsonObject, Nullable, Uuid as UuidText } from '../schema/json.ts'
import { platformRoute, projectOf, projectsOf } from './platform-route.ts'
import type { PlatformParts } from './platform-route.ts'
import { requireId } from './path-id.ts'

const optional = <Schema extends Parameters<typeof Nullable>[0]>(schema: Schema) =>
  Type.Optional(Nullable(schema))
const text = (maxLength: number) => optional(Type.String({ maxLength }))

const Window = Type.Object({
  start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()),
  stride: optional(
    Type.Object({ days: optional(Type.Number({ minimum: 0 })),
      hours: optional(Type.Number({ minimum: 0 })),
      minutes: optional(Type.Number({ minimum: 0 })) }),
  ),
  omit_data: optional(Type.Boolean()),
})
const Filters = Type.Object({
  session: optional(Type.Array(UuidText(), { maxItems: 100 })),
  filter: text(8_192),
  trace_filter: text(8_192),
  tree_filter: text(8_192),
})
const Series = Type.Object({
  id: optional(UuidText()),
  name: Type.String({ maxLength: 1_000 }),
  metric: Type.String({ maxLength: 100 }),
  filters: optional(Filters),
  feedback_key: text(180),
  group_by: optional(
    Type.Object({ attribute: Type.String({ maxLength: 20 }), path: text(1_000),
      max_groups: optional(Type.Integer({ minimum: 1, maximum: 100 })) }),
  ),
})
const ChartFields = {
  title: text(1_000),
  description: text(10_000),
  chart_type: text(20),
  series: optional(Type.Array(Series, { maxItems: 20 })),
  index: optional(Type.Integer()),
  section_id: optional(UuidText()),
  metadata: optional(JsonObject({ 'x-max-characters': 16 * 1024 })),
  common_filters: optional(Filters),
}
const PatchChart = Type.Object(ChartFields)
const MakeChart = Type.Object({ ...ChartFields, title: Type.String({ maxLength: 1_000 }),
  series: Type.Array(Series, { minItems: 1, maxItems: 20 }) })
const Preview = Type.Object({ bucket_info: Window, chart: Type.Object({
  ...ChartFields,
  series: Type.Array(Series, { minItems: 1, maxItems: 20 }),
}) })
const PatchSection = Type.Object({ title: text(1_000), description: text(10_000),
  index: optional(Type.Integer()) })
const MakeSection = Type.Object({ ...PatchSection.properties,
  title: Type.String({ maxLength: 1_000 }) })
const IdPath = Type.Object({ id: Type.String() })

/** Charts of one answer that have their values, how many are made at once, and values of all. */
const [drawnMax, drawnAtOnce, valuesMax] = [50, 2, 50_000]

/** Adds the routes below `/api/v1`. */
export function chartRoutes(app: App, parts: PlatformParts): void {
  const { platform: { charts } } = parts
  const read = (body: typeof Window = Window) => platformRoute('read', { params: IdPath, body })

  app.post('/charts', platformRoute('read', { body: Window }), async (request, reply) => {
    const { tenant } = request.caller
    const { charts: all, sections } = await charts.all(tenant)
    const loose = looseIn(sections, all)
    const drawn = await draw(parts, request, reply, all)
    return { sections: [
      ...loose.length > 0 ? [sectionJson(looseSection(tenant), loose.map(drawn))] : [],
      ...sections.map((section) => sectionJson(section, chartsIn(section, all).map(drawn))),
    ] }
  })
  app.post('/charts/create', platformRoute('change', { body: MakeChart }),
    async ({ body, caller: { tenant } }) => chartJson(await charts.create(tenant, body)))
  app.post('/charts/preview', platformRoute('read', { body: Preview }), async (request, reply) => {
    const { bucket_info: window, chart } = request.body
    const series = chart.series.map((each, at) => ({ ...each, id: each.id ?? String(at) }))
    const data = await dataOf(parts, request, reply, { series,
      common_filters: chart.common_filters ?? null }, windowOf(window, parts.env.nowMs()))
    return { data }
  })
  app.post('/charts/:id', read(), async (request, reply) => {
    const chart = await charts.get(request.caller.tenant, requireId(request.params.id, 'chart'))
    return (await draw(parts, request, reply, [chart]))(chart)
  })
  app.patch('/charts/:id', platformRoute('change', { params: IdPath, body: PatchChart }),
    async ({ params, body, caller: { tenant } }) =>
      chartJson(await charts.patch(tenant, requireId(params.id, 'chart'), body)))
  app.delete('/charts/:id', platformRoute('change', { params: IdPath }),
    async ({ params, caller: { tenant } }, reply) => {
      await charts.delete(tenant, requireId(params.id, 'chart'))
      return reply.code(204).send()
    })

  app.get('/charts/section', platformRoute('read'),
    async ({ caller: { tenant } }) => (await charts.all(tenant)).sections)
  app.post('/charts/section', platformRoute('change', { body: MakeSection }),
    async ({ body, caller: { tenant } }) => charts.createSection(tenant, body))
  app.post('/charts/section/:id', read(), async (request, reply) => {
    const { tenant } = request.caller
    const id = requireId(request.params.id, 'section')
    const loose = looseSection(tenant)
    const section = id === loose.id ? loose : await charts.getSection(tenant, id)
    const { charts: all, sections } = await charts.all(tenant)
    const mine = section === loose ? looseIn(sections, all) : chartsIn(section, all)
    return sectionJson(section, mine.map(await draw(parts, request, reply, mine)))
  })
  app.patch('/charts/section/:id', platformRoute('change', { params: IdPath, body: PatchSection }),
    async ({ params, body, caller: { tenant } }) =>
      charts.patchSection(tenant, requireId(params.id, 'section'), body))
  app.delete('/charts/section/:id', platformRoute('change', { params: IdPath }),
    async ({ params, caller: { tenant } }, reply) => {
      await charts.deleteSection(tenant, requireId(params.id, 'section'))
      return reply.code(204).send()
    })

  app.post('/sessions/:id/dashboard', read(), async (request, reply) => {
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

type Drawn = (chart: Chart) => Record<string, unknown>

/**
 * The values of charts for the window in the body, unless it wants none. Among several charts, one
 * that cannot be drawn has no values: the others are worth more than an error.
 */
async function draw(parts: PlatformParts, request: FastifyRequest, reply: FastifyReply,
  charts: readonly Chart[]): Promise<Drawn> {
  const { omit_data: omit, ...asked } = (request.body ?? {}) as Static<typeof Window>
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
async function dataOf({ platform }: PlatformParts, request: FastifyRequest, reply: FastifyReply,
  chart: Pick<Chart, 'series' | 'common_filters'>,
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
