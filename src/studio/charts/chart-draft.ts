/** Draft that the editor of a chart holds, and the chart that it makes. Pure. */

import type { Chart, ChartBody, ChartSeries } from '../../api/index.ts'
import { isLanguage, readLanguage, writeLanguage } from '../traces/filter/filter-language.ts'
import { readWords, writeWords } from '../traces/filter/filter-parts.ts'
import { widthOf, withWidth } from './arrange.ts'
import type { ChartWidth } from './arrange.ts'

/** Measures that a chart may show: the name of each, and the name and metric of its series. */
export const measures = {
  count: { words: 'Count', series: [['Count', 'run_count']] },
  errors: { words: 'Error rate', series: [['Error rate', 'error_rate']] },
  latency: { words: 'Latency, p50 and p99',
    series: [['p50', 'latency_p50'], ['p99', 'latency_p99']] },
  latency50: { words: 'Latency, p50', series: [['p50', 'latency_p50']] },
  latency99: { words: 'Latency, p99', series: [['p99', 'latency_p99']] },
  firstToken: { words: 'Time to the first token, p50 and p99',
    series: [['p50', 'first_token_p50'], ['p99', 'first_token_p99']] },
  tokens: { words: 'Tokens, in and out',
    series: [['in', 'prompt_tokens'], ['out', 'completion_tokens']] },
  tokensByKind: { words: 'Tokens by kind, in and out',
    series: [['in', 'prompt_token_details'], ['out', 'completion_token_details']] },
  allTokens: { words: 'Tokens', series: [['Tokens', 'total_tokens']] },
  cost: { words: 'Cost', series: [['Cost', 'total_cost']] },
  feedback: { words: 'Feedback, mean score', series: [['Mean score', 'feedback_score_avg']] },
} as const satisfies Readonly<Record<string, Measure>>

interface Measure {
  readonly words: string
  readonly series: readonly (readonly [name: string, metric: string])[]
}

/** The name of a measure. */
export type MeasureId = keyof typeof measures

/** By what a chart may be divided. */
export const groupings = { none: 'Nothing', name: 'Name', run_type: 'Type', tag: 'Tag',
  metadata: 'Metadata' } as const

/** The fields of the form. */
export interface ChartDraft {
  readonly title: string
  readonly kind: 'line' | 'bar'
  /** `own` for series that only the API can make: they stay as they are. */
  readonly measure: MeasureId | 'own'
  readonly feedbackKey: string
  readonly project: string
  readonly about: 'traces' | 'runs'
  /** In words, or in the language of the API. */
  readonly filter: string
  readonly groupBy: keyof typeof groupings
  readonly groupKey: string
  readonly width: ChartWidth
}

/** The form of a new chart. */
export const emptyDraft: ChartDraft = { title: '', kind: 'line', measure: 'count', feedbackKey: '',
  project: '', about: 'traces', filter: '', groupBy: 'none', groupKey: '', width: 'half' }

const groupsMax = 5
const roots = 'eq(is_root, true)'

/** The form of a chart that exists. */
export function draftOf(chart: Chart): ChartDraft {
  const [first] = chart.series
  const { session, filter } = chart.common_filters ?? {}
  const about = aboutOf(filter ?? '')
  return {
    ...about,
    title: chart.title,
    kind: chart.chart_type === 'bar' ? 'bar' : 'line',
    measure: measureOf(chart),
    feedbackKey: first?.feedback_key ?? '',
    project: session?.[0] ?? '',
    groupBy: groupingOf(first),
    groupKey: first?.group_by?.path ?? '',
    width: widthOf(chart),
  }
}

/** The chart that a form makes; what a form does not say stays as it was. */
export function bodyOf(draft: ChartDraft, before?: Chart): ChartBody & Pick<Chart,
  'title' | 'chart_type'> {
  const base = { title: draft.title.trim(), chart_type: draft.kind,
    ...withWidth({ metadata: before?.metadata ?? null }, draft.width) }
  if (draft.measure === 'own') return base
  return { ...base, series: seriesOf(draft, before?.series), common_filters: {
    ...before?.common_filters,
    session: [draft.project],
    filter: filterOf(draft) ?? '',
  } }
}

/** True if a form says all that its drawing needs. */
export const isWhole = (
  { measure, project, feedbackKey, groupBy, groupKey }: ChartDraft,
): boolean =>
  measure === 'own' || project !== '' && (measure !== 'feedback' || feedbackKey.trim() !== '') &&
    (groupBy !== 'metadata' || groupKey.trim() !== '')

/** The filter of a form in the language of the API; undefined for every run. */
export function filterOf({ about, filter }: Pick<ChartDraft, 'about' | 'filter'>):
  | string
  | undefined {
  const text = filter.trim()
  const own = isLanguage(text) ? text : writeLanguage(readWords(text))
  if (about === 'runs') return own
  return own === undefined ? roots : `and(${roots}, ${own})`
}

function seriesOf({ measure, feedbackKey, groupBy, groupKey }: ChartDraft,
  before: readonly ChartSeries[] = []): NonNullable<ChartBody['series']> {
  const { series } = measures[measure as MeasureId]
  return series.map(([name, metric]) => {
    const id = before.find((each) => each.metric === metric)?.id
    return {
      ...id !== undefined && { id },
      name,
      metric,
      ...measure === 'feedback' && { feedback_key: feedbackKey.trim() },
      ...groupBy !== 'none' &&
        {
          group_by: { attribute: groupBy, max_groups: groupsMax,
            ...groupBy === 'metadata' && { path: groupKey.trim() } },
        },
    }
  })
}

function measureOf({ series, common_filters: common }: Chart): ChartDraft['measure'] {
  const metrics = series.map(({ metric }) => metric).join()
  const known = (Object.keys(measures) as MeasureId[]).find((id) =>
    measures[id].series.map(([, metric]) => metric).join() === metrics
  )
  const [first] = series
  const isPlain = (common?.session?.length ?? 0) === 1 && !common?.trace_filter &&
    !common?.tree_filter &&
    series.every(({ filters, group_by: by, feedback_key: key }) =>
      !filters && JSON.stringify(by) === JSON.stringify(first?.group_by) &&
      key === first?.feedback_key
    )
  return known !== undefined && isPlain ? known : 'own'
}

function groupingOf(series: ChartSeries | undefined): keyof typeof groupings {
  const attribute = series?.group_by?.attribute
  return (Object.keys(groupings) as (keyof typeof groupings)[])
    .find((each) => each === attribute) ?? 'none'
}

function aboutOf(filter: string): Pick<ChartDraft, 'about' | 'filter'> {
  const start = `and(${roots}, `
  if (filter === roots) return { about: 'traces', filter: '' }
  return filter.startsWith(start) && filter.endsWith(')')
    ? { about: 'traces', filter: inWords(filter.slice(start.length, -1)) }
    : { about: 'runs', filter: inWords(filter) }
}

function inWords(filter: string): string {
  const parts = readLanguage(filter)
  return parts === undefined ? filter : writeWords(parts)
}
