/** The left edge of a column, which is dragged, or moved by arrow keys. */

import { useRef } from 'react'

import { columnId, columnWidth, columnWords, widthMax, widthMin } from './columns.ts'
import type { Column } from './columns.ts'
import css from './columns.module.css'

const step = 16

/** Edge of a column. `show` hears of each movement, `keep` of the width at its end. */
export function ColumnEdge({ column, show, keep }: {
  readonly column: Column
  readonly show: (id: string, width: number | undefined) => void
  readonly keep: (id: string, width: number | undefined) => void
}) {
  const drag = useRef<{ readonly fromX: number; readonly fromPx: number; toPx?: number }>(undefined)
  const id = columnId(column)
  const width = columnWidth(column)
  return (
    <span role="separator" aria-orientation="vertical" tabIndex={0} className={css['edge']}
      aria-label={`Width of ${columnWords(column)}`} aria-valuenow={width} aria-valuemin={widthMin}
      aria-valuemax={widthMax} onPointerDown={(event) => {
      if (event.button !== 0) return
      event.preventDefault()
      event.currentTarget.setPointerCapture(event.pointerId)
      drag.current = { fromX: event.clientX, fromPx: width }
    }} onPointerMove={({ clientX }) => {
      const { current } = drag
      if (current === undefined) return
      current.toPx = current.fromPx + current.fromX - clientX
      show(id, current.toPx)
    }} onLostPointerCapture={() => {
      const to = drag.current?.toPx
      drag.current = undefined
      if (to !== undefined) keep(id, to)
    }} onDoubleClick={() => keep(id, undefined)} onKeyDown={(event) => {
      const by = { ArrowLeft: step, ArrowRight: -step }[event.key]
      if (by === undefined && event.key !== 'Enter') return
      event.preventDefault()
      event.stopPropagation()
      keep(id, by === undefined ? undefined : width + by)
    }} />
  )
}
