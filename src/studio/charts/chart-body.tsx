/** Body of a chart: its drawing or its numbers, or the reason why there are none. */

import { useMemo } from 'react'

import type { Chart, ChartPoint } from '../../api/index.ts'
import { Skeleton } from '../parts/skeleton.tsx'
import type { PlotWindow } from '../plot/chart-scale.ts'
import type { WrittenChart } from './chart-calls.ts'
import { ChartLegend } from '../plot/chart-legend.tsx'
import { linesOf, wordsOf } from '../plot/chart-lines.ts'
import { ChartPlot } from '../plot/chart-plot.tsx'
import { ChartTable } from '../plot/chart-table.tsx'
import css from './charts.module.css'

/** The body; without points they are on their way. */
export function ChartBody({ chart: { title, chart_type: kind, series }, points, window, asTable }: {
  readonly chart: Pick<Chart, 'title' | 'chart_type'> & Pick<WrittenChart, 'series'>
  readonly points: readonly ChartPoint[] | undefined
  readonly window: PlotWindow | undefined
  readonly asTable: boolean
}) {
  const lines = useMemo(() => linesOf(series, points ?? []), [series, points])
  if (points === undefined || window === undefined) return <Skeleton width="100%" height={168} />
  const metric = series[0]?.metric
  if (!lines.hasValues) return <p className={css['nothing']}>Nothing in this time.</p>
  if (asTable) return <ChartTable title={title} lines={lines} words={wordsOf(metric)} />
  const isBars = kind === 'bar'
  return (
    <>
      <ChartPlot title={title} lines={lines} window={window} isBars={isBars} metric={metric} />
      {(lines.lines.length > 1 || series[0]?.group_by || metric?.endsWith('_details')) && (
        <ChartLegend lines={lines} isBars={isBars} />
      )}
    </>
  )
}
