/** The charts of a dashboard, which people arrange by dragging, by keys or by menus. */

import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLayoutEffect, useRef, useState } from 'react'

import type { Chart, Dashboard } from '../../api/index.ts'
import { nowMs } from '../env.ts'
import { ErrorNotice, Notice } from '../parts/notice.tsx'
import type { ChartTime } from '../addresses/charts.ts'
import type { ChartWidth } from './arrange.ts'
import { ChartBody } from './chart-body.tsx'
import { dashboardValues } from './chart-calls.ts'
import { ChartCard, handleId } from './chart-card.tsx'
import { ChartMenu } from './chart-menu.tsx'
import css from './charts.module.css'
import { windowOf } from './chart-window.ts'
import { useArrange } from './use-arrange.ts'

/** Charts of a dashboard that the server gives values. */
const drawnMax = 50

/** A dashboard, how it is drawn, and the callbacks that open its dialogs. */
export interface ChartGridProps {
  readonly dashboard: Dashboard
  readonly time: ChartTime
  readonly asTable: boolean
  /** The reason why the caller may not arrange charts. */
  readonly refusal: string | undefined
  readonly edit: (chart: Chart) => void
  readonly remove: (chart: Chart) => void
}

/** Charts of a dashboard in a grid that people can rearrange. */
export function ChartGrid({ dashboard, time, asTable, refusal, edit, remove }: ChartGridProps) {
  const { charts } = dashboard
  const values = useQuery({
    ...dashboardValues(dashboard.id, time, () => windowOf(time, nowMs())),
    placeholderData: keepPreviousData,
  })
  const moves = useMoves(dashboard)
  const dragging = useDragging(charts, moves.place)
  return (
    <>
      {values.error !== null && (
        <ErrorNotice error={values.error} retry={() => void values.refetch()} />
      )}
      {moves.error !== null && <ErrorNotice error={moves.error} />}
      {charts.length > drawnMax && (
        <Notice>A dashboard draws its first {drawnMax} charts: move some to another one.</Notice>
      )}
      <p role="status" className="unseen">{moves.words}</p>
      <div className={css['grid']} aria-busy={values.isFetching}>
        {charts.map((chart, at) => (
          <ChartCard key={chart.id} chart={chart} refusal={refusal} {...dragging(chart.id, at)}
            move={(step) => moves.moveByKey(chart, at + step)}
            menu={
              <ChartMenu chart={chart} place={at} total={charts.length} time={time}
                isReader={refusal !== undefined} acts={{
                edit: () => edit(chart),
                remove: () => remove(chart),
                move: (step) => moves.place(chart, at + step),
                widen: (width) => moves.widen(chart, width),
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

/** Moves and widens charts, and says so. A chart that a key moved keeps the focus. */
function useMoves(dashboard: Dashboard) {
  const { charts } = dashboard
  const { move, widen, error } = useArrange(dashboard)
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
  return {
    error,
    words,
    place,
    moveByKey: (chart: Chart, to: number) => {
      focused.current = chart.id
      place(chart, to)
    },
    widen: (chart: Chart, width: ChartWidth) => {
      widen(chart, width)
      setWords(`${chart.title} has the width ${width}.`)
    },
  }
}

/** The chart that is dragged and the one below it, as each card needs them. */
function useDragging(charts: readonly Chart[], place: (chart: Chart, to: number) => void) {
  const [dragged, setDragged] = useState<string>()
  const [over, setOver] = useState<string>()
  const drop = (to: number) => {
    const chart = charts.find(({ id }) => id === dragged)
    setDragged(undefined)
    setOver(undefined)
    if (chart !== undefined) place(chart, to)
  }
  return (id: string, at: number) => ({
    isDragged: dragged === id,
    isOver: over === id && dragged !== undefined && dragged !== id,
    drag: {
      begin: () => setDragged(id),
      over: () => setOver(id),
      drop: () => drop(at),
      end: () => setDragged(undefined),
    },
  })
}
