/** The order of charts on a dashboard, and how wide each is. Pure. */

import type { Chart } from '../../api/index.ts'

/** Widths in words, the narrowest first. */
const widths = ['third', 'half', 'full'] as const

/** Width of a chart on a wide window. */
export type ChartWidth = typeof widths[number]

/** Places between two indexes, so that a move changes one chart only. */
const gap = 1_024

/** The width of a chart; half for one that has none. */
export const widthOf = ({ metadata }: Pick<Chart, 'metadata'>): ChartWidth =>
  widths.find((width) => width === metadata?.['width']) ?? 'half'

/** The next width in a direction; undefined at the end. */
export const widthBeside = (width: ChartWidth, step: 1 | -1): ChartWidth | undefined =>
  widths[widths.indexOf(width) + step]

/** Change of a chart that gives it a width. Its other metadata stay. */
export const withWidth = ({ metadata }: Pick<Chart, 'metadata'>,
  width: ChartWidth): Pick<Chart, 'metadata'> => ({ metadata: { ...metadata, width } })

/** The charts with one of them at another place. */
export function moved<Each extends { readonly id: string }>(charts: readonly Each[], id: string,
  to: number): readonly Each[] {
  const rest = charts.filter((chart) => chart.id !== id)
  const chart = charts.find((each) => each.id === id)
  return chart === undefined ? charts : rest.toSpliced(to, 0, chart)
}

/**
 * Indexes that charts need to be in this order. The moved one gets a number between its neighbours.
 * If there is no such number, all are counted anew.
 */
export function newIndexes(order: readonly Pick<Chart, 'id' | 'index'>[],
  id: string): readonly { readonly id: string; readonly index: number }[] {
  const at = order.findIndex((chart) => chart.id === id)
  const [before, after] = [order[at - 1]?.index, order[at + 1]?.index]
  const index = between(before, after)
  if (index !== undefined) return [{ id, index }]
  return order.map((chart, place) => ({ id: chart.id, index: (place + 1) * gap, was: chart.index }))
    .filter((chart) => chart.index !== chart.was)
    .map((chart) => ({ id: chart.id, index: chart.index }))
}

function between(before: number | undefined, after: number | undefined): number | undefined {
  if (before === undefined) return after === undefined ? gap : after - gap
  if (after === undefined) return before + gap
  const middle = Math.floor((before + after) / 2)
  return middle > before && middle < after ? middle : undefined
}

/** The index of a chart that comes last. */
export const lastIndex = (charts: readonly Pick<Chart, 'index'>[]): number =>
  charts.reduce((most, { index }) => Math.max(most, index), 0) + gap
