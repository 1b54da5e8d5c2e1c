/** The time that a chart shows, its steps, and the question for its values. Pure. */

import type { ChartFilters, ChartSeries, ChartWindowBody } from '../../../api/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Project } from '../../records/projects/project.ts'
import type { Uuid } from '../../spans/span.ts'
import { readTimeUs } from '../../spans/time.ts'
import type { GroupBy, SeriesQuestion } from '../question.ts'
import type { Chart } from './chart.ts'

/** Time from `fromUs` to before `toUs`, in steps. */
export type ChartWindow = Pick<SeriesQuestion, 'fromUs' | 'toUs' | 'strideUs'>

const minuteUs = 60_000_000
const dayUs = 1_440 * minuteUs
/** Steps of a chart at most. */
const stepsMax = 1_000
/** Approximate number of steps of a chart whose client names none. */
const stepsUsual = 60
/** Microseconds above which a time has steps of whole hours. */
const longUs = 12 * 60 * minuteUs

/** The window: by default the last day. Throws `invalid`. */
export function windowOf({ start_time: start, end_time: end, stride }: ChartWindowBody,
  nowMs: number): ChartWindow {
  const toUs = timeIn('end_time', end) ?? nowMs * 1_000
  const fromUs = timeIn('start_time', start) ?? toUs - dayUs
  if (fromUs >= toUs) throw new HeddleError('invalid', 'start_time must be before end_time.')
  const { days, hours, minutes } = stride ?? {}
  const asked = ((days ?? 0) * 1_440 + (hours ?? 0) * 60 + (minutes ?? 0)) * minuteUs
  const strideUs = asked > 0
    ? Math.min(Math.max(1, Math.round(asked)), Number.MAX_SAFE_INTEGER)
    : usualStride(toUs - fromUs)
  if ((toUs - fromUs) / strideUs > stepsMax) {
    throw new HeddleError('invalid', `A chart has ${stepsMax} steps at most: ask for a longer ` +
      'stride or a shorter time.')
  }
  return { fromUs, toUs, strideUs }
}

/** Usual step: whole minutes, or whole hours for a longer time, as roll-ups count hours. */
function usualStride(spanUs: number): number {
  const unitUs = spanUs > longUs ? 60 * minuteUs : minuteUs
  return Math.max(1, Math.ceil(spanUs / stepsUsual / unitUs)) * unitUs
}

/** The projects that a chart is about. */
export function projectsOfChart({ series, common_filters: common }: Pick<Chart,
  | 'series'
  | 'common_filters'>): readonly Uuid[] {
  return [...new Set(series.flatMap((each) => sessionsOf(each, common)))]
}

/**
 * The question for the values of a chart. Projects that the chart names count only if they are
 * given.
 */
export function seriesQuestion(tenant: string, chart: Pick<Chart, 'series' | 'common_filters'>,
  projects: readonly Project[], window: ChartWindow): SeriesQuestion {
  const { series, common_filters: common } = chart
  return {
    ...window,
    tenant,
    series: series.map((each) => ({
      id: each.id,
      metric: each.metric,
      ...each.feedback_key && { feedbackKey: each.feedback_key },
      ...groupByOf(each),
      question: {
        tenant,
        version: 1 as const,
        order: 'newest' as const,
        limit: 100,
        projects: projects.filter(({ id }) => sessionsOf(each, common).includes(id)),
        fromUs: window.fromUs,
        toUs: window.toUs,
        ...both('filter', common?.filter, each.filters?.filter),
        ...both('traceFilter', common?.trace_filter, each.filters?.trace_filter),
        ...both('treeFilter', common?.tree_filter, each.filters?.tree_filter),
      },
    })),
  }
}

function sessionsOf({ filters }: ChartSeries, common: ChartFilters | null): readonly Uuid[] {
  return filters?.session?.length ? filters.session : common?.session ?? []
}

function both<Name extends string>(name: Name, a: string | null | undefined,
  b: string | null | undefined): { readonly [Key in Name]?: string } {
  const filters = [a, b].filter((each) => !!each)
  if (filters.length === 0) return {}
  const joined = filters.length === 2 ? `and(${filters.join(', ')})` : filters[0]
  return { [name]: joined } as { readonly [Key in Name]?: string }
}

const attributes = ['name', 'run_type', 'tag', 'metadata'] as const
const groupsMax = 100

function groupByOf({ group_by: by }: ChartSeries): { readonly groupBy?: GroupBy } {
  if (!by) return {}
  const attribute = attributes.find((each) => each === by.attribute)
  if (attribute === undefined) {
    throw new HeddleError('invalid', `group_by: one of ${attributes.join(', ')}.`)
  }
  const maxGroups = Math.min(by.max_groups ?? 5, groupsMax)
  return { groupBy: { attribute, maxGroups, ...by.path && { path: by.path } } }
}

function timeIn(field: string, value: unknown): number | undefined {
  if (value === undefined || value === null) return undefined
  const us = readTimeUs(value)
  if (us === undefined) throw new HeddleError('invalid', `${field}: expected a time.`)
  return us
}
