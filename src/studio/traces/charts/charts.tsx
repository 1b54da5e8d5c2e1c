/** The charts of a project over time, and the same numbers as a table. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'

import type { ChartPoint } from '../../../api/index.ts'
import { chartPoints } from '../../api/platform/projects.ts'
import type { chartMetrics } from '../../api/platform/projects.ts'
import type { TraceQuestion } from '../../api/platform/traces.ts'
import { nowMs } from '../../env.ts'
import { Button } from '../../parts/button.tsx'
import { ErrorNotice } from '../../parts/notice.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { ChartLegend } from '../../plot/chart-legend.tsx'
import { linesOf, wordsOf } from '../../plot/chart-lines.ts'
import { ChartPlot } from '../../plot/chart-plot.tsx'
import type { PlotWindow } from '../../plot/chart-scale.ts'
import { ChartTable } from '../../plot/chart-table.tsx'
import css from './charts.module.css'

/** One chart: its series, whose ids are their metrics. */
interface ChartKind {
  readonly title: string
  readonly series: readonly { readonly id: typeof chartMetrics[number]; readonly name: string }[]
  readonly isBars: boolean
}

const kinds: readonly ChartKind[] = [
  { title: 'Traces', isBars: true, series: [{ id: 'run_count', name: 'Traces' }] },
  { title: 'Failed', isBars: true, series: [{ id: 'error_rate', name: 'Failed' }] },
  { title: 'Latency', isBars: false,
    series: [{ id: 'latency_p50', name: 'p50' }, { id: 'latency_p99', name: 'p99' }] },
  { title: 'Tokens', isBars: false,
    series: [{ id: 'prompt_tokens', name: 'in' }, { id: 'completion_tokens', name: 'out' }] },
]

/** Columns of the table: a series that is not alone bears the name of its chart, too. */
const columns = kinds.flatMap(({ title, series }) =>
  series.map(({ id, name }) => ({ id, name: series.length === 1 ? title : `${title} ${name}` }))
)

/** Without a time, the charts show the days that a short-lived project keeps. */
const usualMs = 14 * 24 * 3_600_000
const heightPx = 128

/** The charts of the traces that a filter finds. */
export function Charts({ question }: { readonly question: TraceQuestion }) {
  const [asTable, setAsTable] = useState(false)
  const found = useQuery({
    queryKey: ['projects', question.projectId, 'charts', question.filter, question.fromMs],
    queryFn: async ({ signal }) => {
      const toMs = nowMs()
      const fromMs = question.fromMs === 0 ? toMs - usualMs : question.fromMs
      return { window: { fromMs, toMs },
        points: await chartPoints({ ...question, fromMs }, toMs, signal) }
    },
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  })
  const { data } = found
  if (found.isError && data === undefined) {
    return (
      <div className={css['notice']}>
        <ErrorNotice error={found.error} retry={() => void found.refetch()} />
      </div>
    )
  }
  return (
    <section className={css['charts']} aria-label="Charts" aria-busy={found.isPending}>
      {asTable && data !== undefined
        ? <AllNumbers points={data.points} />
        : (
          <div className={css['row']} role="group" aria-label="Drawings" tabIndex={0}>
            {kinds.map((kind) => (
              <figure key={kind.title} className={css['chart']}>
                {data === undefined
                  ? <Skeleton width="100%" height={heightPx} />
                  : <Drawn kind={kind} points={data.points} window={data.window} />}
              </figure>
            ))}
          </div>
        )}
      <Button kind="quiet" small className={css['switch']} onClick={() => setAsTable(!asTable)}>
        {asTable ? 'As charts' : 'As a table'}
      </Button>
    </section>
  )
}

function Drawn({ kind: { title, series, isBars }, points, window }: {
  readonly kind: ChartKind
  readonly points: readonly ChartPoint[]
  readonly window: PlotWindow
}) {
  const lines = useMemo(
    () =>
      linesOf(series, points.filter(({ series_id: id }) => series.some((each) => each.id === id))),
    [
      series,
      points,
    ],
  )
  return (
    <>
      <figcaption>
        <h2>{title}</h2>
        {series.length > 1 && <ChartLegend lines={lines} isBars={isBars} />}
      </figcaption>
      <ChartPlot title={title} lines={lines} window={window} isBars={isBars} heightPx={heightPx}
        metric={series[0]!.id} />
    </>
  )
}

function AllNumbers({ points }: { readonly points: readonly ChartPoint[] }) {
  const lines = useMemo(
    () =>
      linesOf(columns, columns.flatMap(({ id }) => points.filter((each) => each.series_id === id))),
    [
      points,
    ],
  )
  return (
    <ChartTable title="the charts" lines={lines}
      words={(value, metric) => wordsOf(metric)(value)} />
  )
}
