/** Charts of a tenant and the sections that they stand in, kept in catalogs. */

import type { Env } from '../../../../cluster/index.ts'
import type { Chart as ChartJson, ChartBody, ChartSection,
  SectionBody } from '../../../api/index.ts'
import type { CatalogClient } from '../../records/catalog/catalog-client.ts'
import type { CatalogRecord } from '../../records/catalog/catalog-record.ts'
import { collection } from '../../records/catalog/collection.ts'
import type { Uuid } from '../../spans/span.ts'

/** A chart as its catalog keeps it. */
export type Chart = Omit<ChartJson, 'data'>

/** The charts of tenants. All methods throw HeddleError; `not_found` for what does not exist. */
export interface Charts {
  /** Up to 1 000 charts and 100 sections, each by its index. */
  all(tenant: string): Promise<
    { readonly charts: readonly Chart[]; readonly sections: readonly ChartSection[] }
  >
  get(tenant: string, id: Uuid): Promise<Chart>
  /** `full` if there are too many. */
  create(tenant: string, body: ChartBody): Promise<Chart>
  /** Changes a chart. Members that are null or absent stay. */
  patch(tenant: string, id: Uuid, body: ChartBody): Promise<Chart>
  delete(tenant: string, id: Uuid): Promise<void>
  getSection(tenant: string, id: Uuid): Promise<ChartSection>
  createSection(tenant: string, body: SectionBody): Promise<ChartSection>
  patchSection(tenant: string, id: Uuid, body: SectionBody): Promise<ChartSection>
  /** Deletes a section with its charts. */
  deleteSection(tenant: string, id: Uuid): Promise<void>
}

/** Charts and sections that a tenant may have. A list answers all of them. */
const max = { charts: 1_000, sections: 100 } as const

/** The charts of tenants, kept in catalogs. */
export function chartsOver(catalogs: CatalogClient, env: Pick<Env, 'nowMs' | 'uuid'>): Charts {
  const charts = collection(catalogs, env, { name: 'chart', parse: chartOf,
    missing: (id) => `The chart ${id} does not exist.`,
    max: { count: max.charts, full: `There may be ${max.charts} of these. Delete some.` } })
  const sections = collection(catalogs, env, { name: 'chart_section', parse: sectionOf,
    missing: (id) => `The chart section ${id} does not exist.`,
    max: { count: max.sections, full: `There may be ${max.sections} of these. Delete some.` } })
  const bodyOf = ({ section_id: _, series, ...body }: ChartBody) => ({
    ...withoutNull(body),
    ...series && { series: series.map((each) => ({ ...each, id: each.id ?? env.uuid() })) },
  })
  /** The record of a chart, in a section that exists. */
  const placed = async (tenant: string, body: ChartBody) => {
    const { section_id: section } = body
    if (section) await sections.get(tenant, section)
    return { body: bodyOf(body), ...section && { parentId: section } }
  }
  return {
    all: async (tenant) => {
      const [some, others] = await Promise.all([charts.all(tenant), sections.all(tenant)])
      return { charts: byIndex(some), sections: byIndex(others) }
    },
    get: charts.get,
    create: async (tenant, body) => charts.create(tenant, await placed(tenant, body)),
    patch: async (tenant, id, body) => charts.change(tenant, id, await placed(tenant, body)),
    delete: charts.delete,
    getSection: sections.get,
    createSection: (tenant, body) => sections.create(tenant, { body: withoutNull(body) }),
    patchSection: (tenant, id, body) => sections.change(tenant, id, { body: withoutNull(body) }),
    deleteSection: async (tenant, id) => {
      await sections.delete(tenant, id)
      await charts.deleteOf(tenant, id)
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
