/** One chart of a dashboard: its title, the handle that moves it, its menu, and what it shows. */

import { useRef } from 'react'
import type { DragEvent, KeyboardEvent, ReactNode } from 'react'

import type { Chart } from '../../api/index.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { widthOf } from './arrange.ts'
import css from './charts.module.css'

/** Callbacks of a chart that is dragged. */
export interface ChartDrag {
  readonly begin: () => void
  readonly over: () => void
  readonly drop: () => void
  readonly end: () => void
}

/** Card of a chart: its title, its menu and its body. */
export function ChartCard({ chart, isOver, isDragged, refusal, drag, move, menu, children }: {
  readonly chart: Chart
  /** Something would be dropped here. */
  readonly isOver: boolean
  readonly isDragged: boolean
  /** Why the caller may not arrange charts. */
  readonly refusal: string | undefined
  readonly drag: ChartDrag
  readonly move: (step: 1 | -1) => void
  readonly menu: ReactNode
  readonly children: ReactNode
}) {
  const figure = useRef<HTMLElement>(null)
  const { title, description } = chart
  const begin = ({ dataTransfer }: DragEvent) => {
    dataTransfer.effectAllowed = 'move'
    dataTransfer.setData('text/plain', title)
    if (figure.current) dataTransfer.setDragImage(figure.current, 20, 20)
    drag.begin()
  }
  const take = (event: DragEvent, act: () => void) => {
    event.preventDefault()
    act()
  }
  const press = (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (step === undefined) return
    event.preventDefault()
    move(step)
  }
  const classes = [css['card'], css[widthOf(chart)], isOver && css['over'],
    isDragged && css['dragged']].filter(Boolean).join(' ')
  return (
    <figure ref={figure} className={classes} aria-label={title}
      onDragOver={(event) => take(event, drag.over)} onDrop={(event) => take(event, drag.drop)}
    >
      <figcaption>
        <Button kind="quiet" small className={css['handle']} id={handleId(chart.id)}
          icon={<Icon name="grip" size={14} />} label={`Move ${title}`}
          title={refusal ?? 'Drag, or press an arrow key'} disabled={refusal !== undefined}
          draggable={refusal === undefined} onDragStart={begin} onDragEnd={drag.end}
          onKeyDown={press} />
        <h2 dir="auto" title={description ?? title}>{title}</h2>
        {menu}
      </figcaption>
      {children}
    </figure>
  )
}

/** The id of the handle of a chart: it keeps the focus when the chart has moved. */
export const handleId = (chart: string): string => `move-${chart}`

const steps: Readonly<Record<string, 1 | -1 | undefined>> = { ArrowUp: -1, ArrowLeft: -1,
  ArrowDown: 1, ArrowRight: 1 }
