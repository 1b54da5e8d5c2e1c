/** Answers charts: the values of series over the same buckets of time. */

import { zonedTextUs } from '../../spans/time.ts'
import type { ByKind } from '../../spans/token-kinds.ts'
import type { GroupBy, RunsQuestion, SeriesQuestion } from '../question.ts'
import { count } from './count.ts'
import type { StatisticsParts } from './count.ts'
import { areOfCells, GroupNames, groupsOf, GroupTallies, largest } from './groups.ts'
import { hourUs } from './hour-roll-ups.ts'
import { kindMetricOf, metricOf } from './metric.ts'
import { jsonBytes } from './statistics.ts'
import { addTally, emptyTally } from './tally.ts'
import type { Tally } from './tally.ts'
import { bucketOf, TimeBuckets } from './time-buckets.ts'
import { TraceTally, wholeTraces } from './trace-tally.ts'
import { WholeTally } from './whole-tally.ts'

type Series = SeriesQuestion['series'][number]

/** A value of a series in a bucket, which begins at `timestamp`. */
interface Point {
  readonly series_id: string
  readonly timestamp: string
  readonly value: unknown
  readonly group: string | null
}

/** Buckets begin at multiples of the stride; the first and the last may be cut by the window. */
export async function answerSeries(parts: StatisticsParts, asked: SeriesQuestion,
  signal?: AbortSignal): Promise<Uint8Array> {
  const data: Point[] = []
  const points = new Map(
    asked.series.map((series) => [series.id, pointsOf(asked, series)] as const),
  )
  // Series often are different numbers of the same spans.
  const alike = Map.groupBy(asked.series,
    ({ question, groupBy }) => JSON.stringify([question, groupBy]))
  for (const series of alike.values()) {
    const isUsed = series.some(({ metric }) => /token|cost/.test(metric))
    const counted = await countBuckets(parts, asked, series[0]!, isUsed, signal)
    for (const { id } of series) data.push(...points.get(id)!(counted))
  }
  return jsonBytes({ data })
}

/** Makes the points of a series. Throws `invalid` for an unknown metric. */
function pointsOf(asked: SeriesQuestion, { id, metric, feedbackKey }: Series) {
  const ofKinds = kindMetricOf(metric)
  const value = ofKinds === undefined ? metricOf(metric, feedbackKey) : undefined
  return (counted: readonly Counted[]): readonly Point[] =>
    counted.flatMap(({ group, buckets }) => {
      const tallies = bucketsOf(asked).map((bucketUs) =>
        [zonedTextUs(bucketUs), buckets.get(bucketUs) ?? emptyTally()] as const
      )
      return ofKinds === undefined
        ? tallies.map(([timestamp, tally]) => ({ series_id: id, timestamp, group,
          value: value!(tally) })
        )
        : kindPoints(id, group, tallies.map(([timestamp, tally]) => [timestamp, ofKinds(tally)]))
    })
}

/** Kinds of tokens that a series shows of a group. */
const kindsShown = 10

/** A group for each of the most used kinds of tokens, or for each one in a group. */
function kindPoints(series: string, group: string | null,
  values: readonly (readonly [timestamp: string, ByKind | null])[]): readonly Point[] {
  const sums = new Map<string, number>()
  for (const [, own] of values) {
    for (const [kind, some] of Object.entries(own ?? {})) {
      sums.set(kind, (sums.get(kind) ?? 0) + some)
    }
  }
  const largest = [...sums].toSorted(([, a], [, b]) => b - a).slice(0, kindsShown)
  return largest.flatMap(([kind]) =>
    values.map(([timestamp, own]) => ({ series_id: series, timestamp, value: own?.[kind] ?? null,
      group: group === null ? kind : `${group}: ${kind}` })
    )
  )
}

/** Tallies by the start of their bucket, of one group or of all spans. */
interface Counted {
  readonly group: string | null
  readonly buckets: ReadonlyMap<number, Tally>
}

/** Values of an answer. As many groups are counted as it has room for, and at least one. */
const valuesMax = 20_000

async function countBuckets(parts: StatisticsParts, asked: SeriesQuestion, series: Series,
  isUsed: boolean, signal?: AbortSignal): Promise<readonly Counted[]> {
  const { question: { fromUs = 0, toUs = Infinity } } = series
  const question = { ...series.question, fromUs: Math.max(fromUs, asked.fromUs),
    toUs: Math.min(toUs, asked.toUs) }
  return series.groupBy === undefined
    ? countWhole(parts, asked, question, isUsed, signal)
    : countGroups(parts, asked, question, series.groupBy, signal)
}

async function countWhole(parts: StatisticsParts, { strideUs }: SeriesQuestion,
  question: RunsQuestion, isUsed: boolean, signal?: AbortSignal): Promise<readonly Counted[]> {
  // Other spans are counted only for what they used.
  const traces = isUsed ? wholeTraces(question) : undefined
  const buckets = new TimeBuckets<WholeTally | TraceTally>(strideUs,
    () => traces === undefined ? new WholeTally() : new TraceTally())
  const needs = { cells: strideUs % hourUs === 0, keys: traces !== undefined }
  await count(parts, traces ?? question, needs, buckets, signal)
  const tallies = [...buckets.counters].map(([bucketUs, { tally }]) => [bucketUs, tally] as const)
  return [{ group: null, buckets: new Map(tallies) }]
}

async function countGroups(parts: StatisticsParts, asked: SeriesQuestion, question: RunsQuestion,
  groupBy: GroupBy, signal?: AbortSignal): Promise<readonly Counted[]> {
  const lines = asked.series.reduce(
    (sum, { metric }) => sum + (kindMetricOf(metric) === undefined ? 1 : kindsShown),
    0,
  )
  const values = bucketsOf(asked).length * lines
  const names = new GroupNames(Math.max(1, Math.floor(valuesMax / values)))
  const groups = groupsOf(groupBy, parts.payloads)
  const buckets = new TimeBuckets(asked.strideUs,
    () => new GroupTallies(groupBy.attribute, groups, names))
  const cells = asked.strideUs % hourUs === 0 && areOfCells(groupBy)
  await count(parts, question, { cells, keys: true }, buckets, signal)
  const totals = new Map<string, Tally>()
  for (const { tallies } of buckets.counters.values()) {
    for (const [group, tally] of tallies) {
      const total = totals.get(group) ?? emptyTally()
      totals.set(group, total)
      addTally(total, tally)
    }
  }
  return largest(totals, groupBy.maxGroups).map(([group]) => ({ group,
    buckets: new Map([...buckets.counters].flatMap(([bucketUs, { tallies }]) => {
      const tally = tallies.get(group)
      return tally === undefined ? [] : [[bucketUs, tally] as const]
    })) })
  )
}

function bucketsOf({ fromUs, toUs, strideUs }: SeriesQuestion): readonly number[] {
  const first = bucketOf(fromUs, strideUs)
  return Array.from({ length: Math.ceil((toUs - first) / strideUs) },
    (_, index) => first + index * strideUs)
}
