/** Charts and sections in answers, and the ready dashboard of a project. Pure. */

import type { Chart as ChartJson, ChartPoint, ChartSection, Dashboard } from '../../../api/index.ts'
import { namedId } from '../../records/catalog/named-id.ts'
import type { Uuid } from '../../spans/span.ts'
import type { Chart } from './chart.ts'

/** A chart with its values. */
export function chartJson(chart: Chart, data: readonly ChartPoint[] = []): ChartJson {
  return { ...chart, data }
}

/** A section with its charts. */
export function sectionJson(section: ChartSection, charts: readonly ChartJson[]): Dashboard {
  return { ...section, session_id: null, sub_sections: null, layout: null, charts }
}

/** The section for charts that are in no section. */
export function looseSection(tenant: string): ChartSection {
  return { id: namedId('chart', `${tenant}\nloose`), title: 'Charts', description: null, index: 0 }
}

const ofTraces = 'eq(is_root, true)'

/**
 * Title, filter and series of the ready charts. Tokens and costs are those of models, which are
 * never roots.
 */
const dashboard = [
  ['Traces', ofTraces, [['Traces', 'run_count']]],
  ['Error rate', ofTraces, [['Error rate', 'error_rate']]],
  ['Latency', ofTraces, [['P50', 'latency_p50'], ['P99', 'latency_p99']]],
  ['Time to first token', null, [['P50', 'first_token_p50'], ['P99', 'first_token_p99']]],
  ['Tokens', null, [['Prompt', 'prompt_tokens'], ['Completion', 'completion_tokens']]],
  ['Cost', null, [['Total', 'total_cost']]],
] as const

/** Charts that every project has. */
export function dashboardOf(project: Uuid): readonly Chart[] {
  return dashboard.map(([title, filter, series], index) => ({
    id: namedId('chart', `${project}\n${title}`),
    title,
    description: null,
    chart_type: 'line',
    index,
    section_id: null,
    metadata: null,
    common_filters: { session: [project], filter },
    series: series.map(([name, metric]) => ({
      id: namedId('chart', `${project}\n${title}\n${name}`),
      name,
      metric,
    })),
  }))
}
