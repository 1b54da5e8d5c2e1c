/** Charts of a tenant and the sections that they stand in, kept in catalogs. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord, Collection } from '../../records/catalog/catalog-record.ts'
import type { Uuid } from '../../spans/span.ts'

/** Which spans a series or a chart is about. */
export interface ChartFilters {
  readonly session?: readonly Uuid[] | null
  readonly filter?: string | null
  readonly trace_filter?: string | null
  readonly tree_filter?: string | null
}

/** A line or the bars of a chart. */
export interface ChartSeries {
  readonly id: Uuid
  readonly name: string
  readonly metric: string
  readonly filters?: ChartFilters | null
  readonly feedback_key?: string | null
  readonly group_by?: { readonly attribute: string; readonly path?: string | null;
    readonly max_groups?: number | null } | null
}

/** What a client says of a chart. Series without an id get one. */
export interface ChartBody {
  readonly title?: string | null
  readonly description?: string | null
  readonly chart_type?: string | null
  readonly series?: readonly (Omit<ChartSeries, 'id'> & { readonly id?: Uuid | null })[] | null
  readonly index?: number | null
  readonly section_id?: Uuid | null
  readonly metadata?: Readonly<Record<string, unknown>> | null
  readonly common_filters?: ChartFilters | null
}

/** A chart. */
export interface Chart {
  readonly id: Uuid
  readonly title: string
  readonly description: string | null
  readonly chart_type: string
  readonly series: readonly ChartSeries[]
  readonly index: number
  readonly section_id: Uuid | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly common_filters: ChartFilters | null
}

/** What a client says of a section. */
export interface SectionBody {
  readonly title?: string | null
  readonly description?: string | null
  readonly index?: number | null
}

/** A section. */
export interface ChartSection {
  readonly id: Uuid
  readonly title: string
  readonly description: string | null
  readonly index: number
}

/** The charts of tenants. All methods throw HeddleError; `not_found` for what does not exist. */
export interface Charts {
  /** Up to 1 000 charts and 100 sections, each by its index. */
  all(tenant: string): Promise<
    { readonly charts: readonly Chart[]; readonly sections: readonly ChartSection[] }
  >
  get(tenant: string, id: Uuid): Promise<Chart>
  /** `full` if there are too many. */
  create(tenant: string, body: ChartBody): Promise<Chart>
  /** Null and what is absent stay. */
  patch(tenant: string, id: Uuid, body: ChartBody): Promise<Chart>
  delete(tenant: string, id: Uuid): Promise<void>
  getSection(tenant: string, id: Uuid): Promise<ChartSection>
  createSection(tenant: string, body: SectionBody): Promise<ChartSection>
  patchSection(tenant: string, id: Uuid, body: SectionBody): Promise<ChartSection>
  /** Its charts go with it. */
  deleteSection(tenant: string, id: Uuid): Promise<void>
}

/** How many of each a tenant may have. A list answers all of them. */
const limits = { chart: 1_000, chart_section: 100 } as const
const pageRecords = 100

/** The charts in catalogs. */
export function chartsOver(catalogs: CatalogClient, env: Pick<Env, 'nowMs' | 'uuid'>): Charts {
  const all = async (tenant: string, collection: keyof typeof limits, parentId?: Uuid) => {
    const records: CatalogRecord[] = []
    for (let offset = 0; offset < limits[collection]; offset += pageRecords) {
      const page = await catalogs.list({ tenant, collection }, { sortBy: 'created', offset,
        descending: false, limit: pageRecords, ...parentId && { parentIds: [parentId] } })
      records.push(...page.records)
      if (page.records.length < pageRecords) break
    }
    return records
  }
  const one = async (tenant: string, collection: Collection, id: Uuid) => {
    const [record] = await catalogs.get({ tenant, collection }, [id])
    if (record !== undefined) return record
    throw new HeddleError('not_found', `The ${collection.replace('_', ' ')} ${id} does not exist.`)
  }
  const make = async (tenant: string, collection: keyof typeof limits, body: object,
    parentId: Uuid | null = null) => {
    const { total } = await catalogs.list({ tenant, collection }, { sortBy: 'created', offset: 0,
      descending: false, limit: 1 })
    if (total >= limits[collection]) {
      throw new HeddleError('full', `There may be ${limits[collection]} of these. Delete some.`)
    }
    const id = env.uuid()
    return catalogs.create({ tenant, collection }, { id, name: id, orderMs: env.nowMs(),
      parentId: parentId ?? '', metadataJson: '{}', bodyJson: JSON.stringify(body) })
  }
  const change = (tenant: string, collection: Collection, id: Uuid, body: object,
    parentId?: Uuid | null) =>
    catalogs.change({ tenant, collection }, id, { bodyJson: JSON.stringify(body),
      ...parentId && { parentId } })
  const removeChart = (tenant: string, id: Uuid) =>
    catalogs.delete({ tenant, collection: 'chart' }, id)
  const chartBody = ({ section_id: _, series, ...body }: ChartBody) => ({
    ...withoutNull(body),
    ...series && { series: series.map((each) => ({ ...each, id: each.id ?? env.uuid() })) },
  })
  return {
    all: async (tenant) => {
      const [charts, sections] = await Promise.all([all(tenant, 'chart'),
        all(tenant, 'chart_section')])
      return { charts: byIndex(charts.map(chartOf)), sections: byIndex(sections.map(sectionOf)) }
    },
    get: async (tenant, id) => chartOf(await one(tenant, 'chart', id)),
    create: async (tenant, body) => {
      const { section_id: section } = body
      if (section) await one(tenant, 'chart_section', section)
      return chartOf(await make(tenant, 'chart', chartBody(body), section))
    },
    patch: async (tenant, id, body) => {
      const { section_id: section } = body
      if (section) await one(tenant, 'chart_section', section)
      return chartOf(await change(tenant, 'chart', id, chartBody(body), section))
    },
    delete: removeChart,
    getSection: async (tenant, id) => sectionOf(await one(tenant, 'chart_section', id)),
    createSection: async (tenant, body) =>
      sectionOf(await make(tenant, 'chart_section', withoutNull(body))),
    patchSection: async (tenant, id, body) =>
      sectionOf(await change(tenant, 'chart_section', id, withoutNull(body))),
    deleteSection: async (tenant, id) => {
      await catalogs.delete({ tenant, collection: 'chart_section' }, id)
      const charts = await all(tenant, 'chart', id)
      await Promise.all(charts.map((chart) => removeChart(tenant, chart.id)))
    },
  }
}

function chartOf({ id, parentId, bodyJson }: CatalogRecord): Chart {
  return {
    title: '',
    description: null,
    chart_type: 'line',
    series: [],
    index: 0,
    metadata: null,
    common_filters: null,
    ...JSON.parse(bodyJson) as Partial<Chart>,
    id,
    section_id: parentId === '' ? null : parentId,
  }
}

function sectionOf({ id, bodyJson }: CatalogRecord): ChartSection {
  return { title: '', description: null, index: 0, ...JSON.parse(bodyJson) as SectionFields, id }
}

type SectionFields = Partial<ChartSection>

function byIndex<Each extends { readonly index: number }>(list: readonly Each[]): readonly Each[] {
  return list.toSorted((a, b) => a.index - b.index)
}

function withoutNull<Value extends object>(value: Value): object {
  return Object.fromEntries(
    Object.entries(value).filter(([, each]) => each !== null && each !== undefined),
  )
}
