/** The charts of a project over time, and the same numbers as a table. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'

import { chartPoints } from '../../api/platform/projects.ts'
import type { TraceQuestion } from '../../api/platform/traces.ts'
import { nowMs } from '../../env.ts'
import { count } from '../../parts/amounts.ts'
import { Button } from '../../parts/button.tsx'
import { momentWords } from '../../parts/times/moment.ts'
import { ErrorNotice } from '../../parts/notice.tsx'
import { Skeleton } from '../../parts/skeleton.tsx'
import { latency, share } from '../../parts/trace-words.ts'
import { ChartDrawing } from './chart-drawing.tsx'
import type { ChartLine } from './chart-drawing.tsx'
import { chartRows, largestOf } from './chart-points.ts'
import type { ChartRow, Metric } from './chart-points.ts'
import css from './charts.module.css'

/** One chart: its lines, and how its numbers are written. */
interface ChartKind {
  readonly title: string
  readonly lines: readonly (ChartLine & { readonly metric: Metric })[]
  readonly words: (value: number | null | undefined) => string
  readonly isBars?: boolean
}

const whole = (value: number | null | undefined) =>
  value === null || value === undefined ? '–' : count(Math.round(value))

const kinds: readonly ChartKind[] = [
  { title: 'Traces', words: whole, isBars: true,
    lines: [{ metric: 'run_count', label: 'Traces', colour: 'var(--indigo)' }] },
  { title: 'Failed', words: share, isBars: true,
    lines: [{ metric: 'error_rate', label: 'Failed', colour: 'var(--madder)' }] },
  { title: 'Latency', words: latency, lines: [
    { metric: 'latency_p50', label: 'p50', colour: 'var(--indigo)' },
    { metric: 'latency_p99', label: 'p99', colour: 'var(--weld)' },
  ] },
  { title: 'Tokens', words: whole, lines: [
    { metric: 'prompt_tokens', label: 'in', colour: 'var(--indigo)' },
    { metric: 'completion_tokens', label: 'out', colour: 'var(--teal)' },
  ] },
]

/** Without a time, the charts show the days that a short-lived project keeps. */
const usualMs = 14 * 24 * 3_600_000

/** The charts of the traces that a filter finds. */
export function Charts({ question }: { readonly question: TraceQuestion }) {
  const [asTable, setAsTable] = useState(false)
  const points = useQuery({
    queryKey: ['projects', question.projectId, 'charts', question.filter, question.fromMs],
    queryFn: ({ signal }) => {
      const toMs = nowMs()
      const fromMs = question.fromMs === 0 ? toMs - usualMs : question.fromMs
      return chartPoints({ ...question, fromMs }, toMs, signal)
    },
    staleTime: 60_000,
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  })
  const rows = useMemo(() => chartRows(points.data ?? []), [points.data])
  if (points.isError && points.data === undefined) {
    return (
      <div className={css['notice']}>
        <ErrorNotice error={points.error} retry={() => void points.refetch()} />
      </div>
    )
  }
  return (
    <section className={css['charts']} aria-label="Charts" aria-busy={points.isPending}>
      {asTable
        ? <ChartTable rows={rows} />
        : (
          <div className={css['row']} role="group" aria-label="Drawings" tabIndex={0}>
            {kinds.map((kind) => (
              <Chart key={kind.title} kind={kind} rows={rows} isPending={points.isPending} />
            ))}
          </div>
        )}
      <Button kind="quiet" small className={css['switch']} onClick={() => setAsTable(!asTable)}>
        {asTable ? 'As charts' : 'As a table'}
      </Button>
    </section>
  )
}

function Chart({ kind, rows, isPending }: {
  readonly kind: ChartKind
  readonly rows: readonly ChartRow[]
  readonly isPending: boolean
}) {
  const { title, lines, words } = kind
  const summary = lines.map(({ metric, label }) =>
    `${label} at most ${words(largestOf(rows, metric))}`
  ).join(', ')
  return (
    <figure className={css['chart']}>
      <figcaption>
        <h2>{title}</h2>
        {lines.length > 1 && lines.map(({ label, colour }) => (
          <span key={label}>
            <i style={{ background: colour }} />
            {label}
          </span>
        ))}
      </figcaption>
      {isPending
        ? <Skeleton width="100%" height={120} />
        : (
          <div role="img" aria-label={`${title} over time: ${summary}`}>
            <ChartDrawing times={rows.map(({ atMs }) => atMs / 1_000)} words={words} lines={lines}
              values={lines.map(({ metric }) => rows.map((row) => row[metric] ?? null))}
              isBars={kind.isBars ?? false} isCount={words === whole} />
          </div>
        )}
    </figure>
  )
}

function ChartTable({ rows }: { readonly rows: readonly ChartRow[] }) {
  const lines = kinds.flatMap(({ title, lines: own, words }) =>
    own.map(({ metric, label }) => ({ metric, words,
      label: own.length === 1 ? title : `${title} ${label}` })
    )
  )
  const shown = rows.filter(({ run_count: traces }) => (traces ?? 0) > 0).toReversed()
  return (
    <div className={css['table']} tabIndex={0} role="region" aria-label="Numbers of the charts">
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            {lines.map(({ label }) => <th key={label} scope="col">{label}</th>)}
          </tr>
        </thead>
        <tbody>
          {shown.map((row) => (
            <tr key={row.atMs}>
              <th scope="row">
                {momentWords(row.atMs)}
              </th>
              {lines.map(({ metric, label, words }) => <td key={label}>{words(row[metric])}</td>)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
