/** Charts: their order, their form, their lines, and their axes. */

import { describe, expect, it } from 'vitest'

import type { Chart, ChartBody } from '../../../src/api/index.ts'
import { moved, newIndexes, widthBeside, widthOf,
  withWidth } from '../../../src/studio/charts/arrange.ts'
import { bodyOf, draftOf, emptyDraft, filterOf, groupings,
  measures } from '../../../src/studio/charts/chart-draft.ts'
import type { ChartDraft, MeasureId } from '../../../src/studio/charts/chart-draft.ts'
import { axisWords } from '../../../src/studio/plot/axis-words.ts'
import { kindOf, linesOf, summaryOf, wordsOf } from '../../../src/studio/plot/chart-lines.ts'
import { alone, lineLook, linePath, markPath, nearest, timeTicks,
  valueAxis } from '../../../src/studio/plot/chart-scale.ts'

const bare: Chart = { id: 'c', title: 'x', description: null, chart_type: 'line', series: [],
  index: 0, section_id: null, metadata: null, common_filters: null, data: [] }
const chartOf = (body: ChartBody): Chart => ({ ...bare, ...body }) as Chart

describe('the order of charts', () => {
  it('is kept by as few indexes as possible, whatever is moved', () => {
    let state = 7
    const chance = (below: number) => {
      state = state * 1_103_515_245 + 12_345 & 0x7fffffff
      return (state >> 8) % below
    }
    let charts = Array.from({ length: 9 }, (_, at) => ({ id: String(at), index: 0 }))
    let writes = 0
    for (let round = 0; round < 400; round++) {
      const id = String(chance(9))
      const order = moved(charts, id, chance(9))
      const changes = new Map(newIndexes(order, id).map((each) => [each.id, each.index]))
      writes += changes.size
      const written = charts.map((chart) => ({ ...chart, index: changes.get(chart.id) ??
        chart.index })
      )
      charts = written.toSorted((a, b) => a.index - b.index)
      expect(charts.map((chart) => chart.id)).toEqual(order.map((chart) => chart.id))
    }
    expect(writes).toBeLessThan(800)
  })

  it('of a chart that is not there stays', () => {
    const charts = [{ id: 'a' }, { id: 'b' }]
    expect(moved(charts, 'z', 0)).toBe(charts)
    expect(moved(charts, 'a', 9).map(({ id }) => id)).toEqual(['b', 'a'])
  })

  it('has widths beside other metadata', () => {
    expect(widthOf({ metadata: null })).toBe('half')
    expect(withWidth({ metadata: { team: 'a', width: 'half' } }, 'full'))
      .toEqual({ metadata: { team: 'a', width: 'full' } })
    expect([widthBeside('third', -1), widthBeside('third', 1), widthBeside('full', 1)])
      .toEqual([undefined, 'half', undefined])
  })
})

describe('the form of a chart', () => {
  it('reads what it wrote, for every measure and grouping', () => {
    for (const measure of Object.keys(measures) as MeasureId[]) {
      for (const groupBy of Object.keys(groupings) as ChartDraft['groupBy'][]) {
        for (const filter of ['', 'status:error', 'loom latency>2s tag:web',
          'or(eq(name, "a"), eq(name, "b"))']) {
          const draft: ChartDraft = { title: 't', kind: 'bar', measure, groupBy, filter,
            project: 'p', about: filter === '' ? 'runs' : 'traces', width: 'third',
            feedbackKey: measure === 'feedback' ? 'good' : '',
            groupKey: groupBy === 'metadata' ? 'customer' : '' }
          expect(draftOf(chartOf(bodyOf(draft)))).toEqual(draft)
        }
      }
    }
  })

  it('leaves alone what it cannot say', () => {
    const own = chartOf({ series: [{ id: 's', name: 's', metric: 'tokens_p99' }],
      common_filters: { session: ['p'], filter: 'eq(is_root, true)' }, metadata: { team: 'a' } })
    const draft = draftOf(own)
    expect(draft).toMatchObject({ measure: 'own', about: 'traces', filter: '' })
    expect(bodyOf(draft, own)).toEqual({ title: 'x', chart_type: 'line',
      metadata: { team: 'a', width: 'half' } })
    for (const common_filters of [{ session: ['p', 'q'] }, { session: ['p'],
      trace_filter: 'eq(name, "a")' }]) {
      const series = [{ name: 's', metric: 'run_count' }]
      expect(draftOf(chartOf({ series, common_filters })).measure).toBe('own')
    }
  })

  it('keeps the ids of series that it keeps', () => {
    const before = chartOf({ series: [{ id: 'one', name: 'p50', metric: 'latency_p50' }] })
    const { series } = bodyOf({ ...emptyDraft, measure: 'latency', project: 'p' }, before)
    expect(series).toEqual([{ id: 'one', name: 'p50', metric: 'latency_p50' }, { name: 'p99',
      metric: 'latency_p99' }])
  })

  it('writes filters in the language of the API', () => {
    expect(filterOf({ about: 'runs', filter: '' })).toBeUndefined()
    expect(filterOf({ about: 'traces', filter: ' ' })).toBe('eq(is_root, true)')
    expect(filterOf({ about: 'traces', filter: 'status:error' }))
      .toBe('and(eq(is_root, true), eq(status, "error"))')
  })
})

const point = (series_id: string, hour: string, value: unknown, group: string | null = null) => ({
  series_id,
  timestamp: `2026-01-01T${hour}:00:00`,
  value,
  group,
})

describe('the lines of a chart', () => {
  it('are one for each series and group, by time', () => {
    const series = [{ id: 'a', name: 'p50' }, { id: 'b', name: 'p99' }]
    const { times, lines, hasValues } = linesOf(series, [point('a', '02', 2, 'web'),
      point('a', '01', 1, 'web'), point('b', '02', null, 'web'), point('a', '02', 0, '')])
    expect(times).toEqual([Date.UTC(2026, 0, 1, 1), Date.UTC(2026, 0, 1, 2)])
    expect(lines.map(({ label, values }) => [label, values])).toEqual([['web, p50', [1, 2]], [
      'web, p99',
      [null, null],
    ], ['(none), p50', [null, 0]]])
    expect(hasValues).toBe(true)
    const one = linesOf([{ name: 'Count' }], [point('0', '01', 0)])
    expect([one.lines[0]!.label, one.hasValues]).toEqual(['Count', false])
  })

  it('have words', () => {
    const lines = linesOf([{ id: 'a', name: 'p50' }, { id: 'b', name: 'p99' }], [
      point('a', '01', 1),
      point('a', '02', 0.2),
      point('b', '01', null),
    ])
    expect(summaryOf(lines, wordsOf('latency_p50')))
      .toBe('p50 from 200 ms to 1 s; p99 without a value')
    expect(['run_count', 'error_rate', 'total_cost', 'feedback_score_avg', 'latency_p99']
      .map((metric) => wordsOf(metric)(0.5))).toEqual(['1', '50 %', '$0.5', '0.5', '500 ms'])
    expect(wordsOf('run_count')(null)).toBe('–')
  })
})

describe('the axes of a chart', () => {
  it.each([1, 2, 3, 7, 41, 99, 100, 101, 1_234, 0.003, 0.7])('go a little above %d', (largest) => {
    for (const isWhole of [true, false]) {
      const { ticks, most } = valueAxis(largest, isWhole)
      expect(most).toBeGreaterThanOrEqual(largest)
      expect(ticks.length).toBeLessThanOrEqual(6)
      if (isWhole) expect(ticks.every(Number.isInteger)).toBe(true)
    }
  })

  it.each([
    ['latency_p50', 0.009, ['0', '2.5 ms', '5 ms', '7.5 ms', '10 ms']],
    ['latency_p50', 0.0008, ['0', '0.2 ms', '0.4 ms', '0.6 ms', '0.8 ms']],
    ['latency_p99', 0.9, ['0', '0.25 s', '0.5 s', '0.75 s', '1 s']],
    ['latency_p99', 180, ['0', '50 s', '1 min 40 s', '2 min 30 s', '3 min 20 s']],
    ['error_rate', 0.01, ['0', '0.25 %', '0.5 %', '0.75 %', '1 %']],
    ['error_rate', 0.5, ['0', '20 %', '40 %', '60 %']],
    ['total_cost', 0.000001, ['0', '$0.00000025', '$0.0000005', '$0.00000075', '$0.000001']],
    ['total_cost', 0.9, ['0', '$0.25', '$0.5', '$0.75', '$1']],
    ['feedback_score_avg', 0.01, ['0', '0.0025', '0.005', '0.0075', '0.01']],
    ['run_count', 9_000, ['0', '2,500', '5,000', '7,500', '10,000']],
  ])('have words of their own at each tick: %s up to %d', (metric, largest, words) => {
    const { ticks } = valueAxis(largest, kindOf(metric) === 'count')
    expect(axisWords(ticks, metric)).toEqual(words)
  })

  it('have round times, as many as have room', () => {
    const from = Date.UTC(2026, 0, 1, 10, 7)
    for (const hours of [1, 24, 168, 720]) {
      const ticks = timeTicks(from, from + hours * 3_600_000, 8)
      expect(ticks.length).toBeGreaterThan(2)
      expect(ticks.length).toBeLessThan(10)
      expect(ticks.every(({ atMs }) => atMs >= from && new Date(atMs).getSeconds() === 0))
        .toBe(true)
    }
    expect(valueAxis(0, true)).toEqual({ ticks: [0], most: 1 })
  })

  it('break lines where there is no value, and mark what is alone', () => {
    expect(linePath([0, 1, 2, 3], [5, 6, null, 7])).toBe('M0 5L1 6M3 7')
    expect(alone([1, null, 2, 3, null, 0])).toEqual([0, 5])
    expect([nearest([], 1), nearest([0, 10, 20], 14)]).toEqual([undefined, 1])
  })

  it('tell twelve lines apart without their colours', () => {
    const looks = Array.from({ length: 12 },
      (_, at) => `${lineLook(at).dash} ${markPath(at, 0, 0)}`)
    expect(new Set(looks).size).toBe(12)
  })
})
