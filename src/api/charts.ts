/** Charts, and the sections that they stand in, which the page calls dashboards. */

import { Type } from 'typebox'

import { Json, JsonObject, Maybe, Nullable, Text, Uuid } from './json.ts'
import { operation } from './operation.ts'
import type { Value } from './operation.ts'

const Window = Type.Object({
  start_time: Type.Optional(Json()),
  end_time: Type.Optional(Json()),
  stride: Maybe(Type.Object({
    days: Maybe(Type.Number({ minimum: 0 })),
    hours: Maybe(Type.Number({ minimum: 0 })),
    minutes: Maybe(Type.Number({ minimum: 0 })),
  })),
  omit_data: Maybe(Type.Boolean()),
})

const Filters = Type.Object({
  session: Maybe(Type.Array(Uuid(), { maxItems: 100 })),
  filter: Maybe(Text(8_192)),
  trace_filter: Maybe(Text(8_192)),
  tree_filter: Maybe(Text(8_192)),
})

const series = {
  name: Text(1_000),
  metric: Text(100),
  filters: Maybe(Filters),
  feedback_key: Maybe(Text(180)),
  group_by: Maybe(Type.Object({
    attribute: Text(20),
    path: Maybe(Text(1_000)),
    max_groups: Maybe(Type.Integer({ minimum: 1, maximum: 100 })),
  })),
}
const Series = Type.Object({ id: Uuid(), ...series })
// One without an id gets one.
const NewSeries = Type.Object({ id: Maybe(Uuid()), ...series })

const fields = {
  title: Text(1_000),
  description: Nullable(Text(10_000)),
  chart_type: Text(20),
  index: Type.Integer(),
  section_id: Nullable(Uuid()),
  metadata: Nullable(JsonObject({ 'x-max-characters': 16 * 1024 })),
  common_filters: Nullable(Filters),
}

const Point = Type.Object({
  series_id: Text(),
  // In UTC, which it does not say.
  timestamp: Text(),
  value: Json(),
  group: Nullable(Text()),
})

const Chart = Type.Object({ id: Uuid(), ...fields, series: Type.Array(Series),
  data: Type.Array(Point) }, { $id: 'Chart', description: 'A chart, with the values of a time.' })

const Body = Type.Object({
  title: Maybe(Text(1_000)),
  description: Maybe(Text(10_000)),
  chart_type: Maybe(Text(20)),
  series: Maybe(Type.Array(NewSeries, { maxItems: 20 })),
  index: Maybe(Type.Integer()),
  section_id: Maybe(Uuid()),
  metadata: Maybe(JsonObject({ 'x-max-characters': 16 * 1024 })),
  common_filters: Maybe(Filters),
})
const drawn = Type.Array(NewSeries, { minItems: 1, maxItems: 20 })

const sectionFields = { title: Text(1_000), description: Nullable(Text(10_000)),
  index: Type.Integer() }
const Section = Type.Object({ id: Uuid(), ...sectionFields })
const SectionBody = Type.Object({ title: Maybe(Text(1_000)), description: Maybe(Text(10_000)),
  index: Maybe(Type.Integer()) })

const Dashboard = Type.Object({
  ...Section.properties,
  session_id: Nullable(Uuid()),
  sub_sections: Type.Null(),
  layout: Type.Null(),
  charts: Type.Array(Chart),
}, { $id: 'Dashboard', description: 'A section with its charts.' })

export const readDashboards = operation('POST', '/api/v1/charts', {
  access: 'read',
  summary: 'Read all sections with their charts, and the values of a time',
  body: Window,
  answer: Type.Object({ sections: Type.Array(Dashboard) }),
})

export const createChart = operation('POST', '/api/v1/charts/create', {
  access: 'change',
  summary: 'Create a chart',
  body: Type.Object({ ...Body.properties, title: Text(1_000), series: drawn }),
  answer: Chart,
})

export const previewChart = operation('POST', '/api/v1/charts/preview', {
  access: 'read',
  summary: 'Read the values of a chart that is not kept',
  body: Type.Object({ bucket_info: Window,
    chart: Type.Object({ ...Body.properties, series: drawn }) }),
  answer: Type.Object({ data: Type.Array(Point) }),
})

export const readChart = operation('POST', '/api/v1/charts/:id', {
  access: 'read',
  summary: 'Read a chart with the values of a time',
  body: Window,
  answer: Chart,
})

export const patchChart = operation('PATCH', '/api/v1/charts/:id', {
  access: 'change',
  summary: 'Change a chart: null and what is missing stay',
  body: Body,
  answer: Chart,
})

export const deleteChart = operation('DELETE', '/api/v1/charts/:id', {
  access: 'change',
  summary: 'Delete a chart',
})

export const listSections = operation('GET', '/api/v1/charts/section', {
  access: 'read',
  summary: 'List sections',
  answer: Type.Array(Section),
})

export const createSection = operation('POST', '/api/v1/charts/section', {
  access: 'change',
  summary: 'Create a section',
  body: Type.Object({ ...SectionBody.properties, title: Text(1_000) }),
  answer: Section,
})

export const readSection = operation('POST', '/api/v1/charts/section/:id', {
  access: 'read',
  summary: 'Read a section with its charts, and the values of a time',
  body: Window,
  answer: Dashboard,
})

export const patchSection = operation('PATCH', '/api/v1/charts/section/:id', {
  access: 'change',
  summary: 'Change a section: null and what is missing stay',
  body: SectionBody,
  answer: Section,
})

export const deleteSection = operation('DELETE', '/api/v1/charts/section/:id', {
  access: 'change',
  summary: 'Delete a section with its charts',
})

export const readProjectDashboard = operation('POST', '/api/v1/sessions/:id/dashboard', {
  access: 'read',
  summary: 'Read the charts that every project has, and the values of a time',
  body: Window,
  answer: Dashboard,
})

/** A time, in steps, as a client asks for it. */
export type ChartWindowBody = Value<typeof Window>
/** A choice of runs for a chart or one of its series. */
export type ChartFilters = Value<typeof Filters>
/** A line, or the bars of one kind; grouped, it is several. */
export type ChartSeries = Value<typeof Series>
/** A value of a series, in the step that begins then. */
export type ChartPoint = Value<typeof Point>
/** A chart as a client writes it. */
export type ChartBody = Value<typeof Body>
/** A chart, with its values if they were asked for. */
export type Chart = Value<typeof Chart>
/** A section as a client writes it. */
export type SectionBody = Value<typeof SectionBody>
/** A section without its charts. */
export type ChartSection = Value<typeof Section>
/** A section with its charts. */
export type Dashboard = Value<typeof Dashboard>
