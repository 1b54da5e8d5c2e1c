/** The charts of a dashboard, which people arrange by dragging, by keys or by menus. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLayoutEffect, useRef, useState } from 'react'

import type { Chart, Dashboard } from '../../api/index.ts'
import { nowMs } from '../env.ts'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import type { ChartTime } from '../addresses/charts.ts'
import { ChartBody } from './chart-body.tsx'
import { dashboardValues } from './chart-calls.ts'
import { ChartCard, handleId } from './chart-card.tsx'
import { ChartMenu } from './chart-menu.tsx'
import css from './charts.module.css'
import { windowOf } from './chart-window.ts'
import { useArrange } from './use-arrange.ts'

/** Charts of a dashboard that the server gives values. */
const drawnMax = 50

/** Charts of a dashboard in a grid that people can rearrange. */
export function ChartGrid({ dashboard, time, asTable, refusal, edit, remove }: {
  readonly dashboard: Dashboard
  readonly time: ChartTime
  readonly asTable: boolean
  readonly refusal: string | undefined
  readonly edit: (chart: Chart) => void
  readonly remove: (chart: Chart) => void
}) {
  const { charts } = dashboard
  const values = useQuery({
    ...dashboardValues(dashboard.id, time, () => windowOf(time, nowMs())),
    placeholderData: keepPreviousData,
  })
  const { move, widen, error } = useArrange(dashboard)
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState<string>()
  const [words, setWords] = useState('')
  const focused = useRef<string>(undefined)
  useLayoutEffect(() => {
    if (focused.current !== undefined) document.getElementById(handleId(focused.current))?.focus()
    focused.current = undefined
  }, [charts])
  const place = ({ id, title }: Chart, to: number) => {
    if (to < 0 || to >= charts.length || charts[to]!.id === id) return
    move(id, to)
    setWords(`${title} is number ${to + 1} of ${charts.length}.`)
  }
  const drop = (to: number) => {
    const chart = charts.find(({ id }) => id === dragged)
    setDragged(undefined)
    setOver(undefined)
    if (chart !== undefined) place(chart, to)
  }
  return (
    <>
      {values.error !== null && (
        <ErrorNotice error={values.error} retry={() => void values.refetch()} />
      )}
      {error !== null && <ErrorNotice error={error} />}
      {charts.length > drawnMax && (
        <Notice>A dashboard draws its first {drawnMax} charts: move some to another one.</Notice>
      )}
      <p role="status" className="unseen">{words}</p>
      <div className={css['grid']} aria-busy={values.isFetching}>
        {charts.map((chart, at) => (
          <ChartCard key={chart.id} chart={chart} refusal={refusal} isDragged={dragged === chart.id}
            isOver={over === chart.id && dragged !== undefined && dragged !== chart.id}
            drag={{ begin: () => setDragged(chart.id), over: () => setOver(chart.id), drop: () =>
              drop(at), end: () => setDragged(undefined) }} move={(step) => {
            focused.current = chart.id
            place(chart, at + step)
          }}
            menu={
              <ChartMenu chart={chart} place={at} total={charts.length} time={time}
                isReader={refusal !== undefined} acts={{
                edit: () => edit(chart),
                remove: () => remove(chart),
                move: (step) => place(chart, at + step),
                widen: (width) => {
                  widen(chart, width)
                  setWords(`${chart.title} has the width ${width}.`)
                },
              }} />
            }
          >
            {values.error === null || values.data !== undefined
              ? (
                <ChartBody chart={chart} points={values.data?.values.get(chart.id)}
                  window={values.data?.window} asTable={asTable} />
              )
              : <p className={css['nothing']}>No numbers.</p>}
          </ChartCard>
        ))}
      </div>
    </>
  )
}
