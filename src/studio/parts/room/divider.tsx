/** The line between two panes, which moves by mouse, by finger and by keys. */

import { useRef, useState } from 'react'

import css from './divider.module.css'
import { keepWidth, widthOf } from './panes.ts'

/** A pane, and the bounds of its width in pixels. The divider is one of its children. */
export interface DividerProps {
  /** Name of the pane: its width is the variable `--pane-…` of the element with `data-panes`. */
  readonly pane: string
  /** Its words, such as `Width of the time line`. */
  readonly label: string
  /** The edge of the pane that moves. */
  readonly edge: 'left' | 'right'
  readonly usual: number
  readonly least: number
  readonly most: number
}

const step = 16

/** Divider of a pane. Arrows move it, Home and End go to the bounds, Enter to the usual width. */
export function Divider({ pane, label, edge, usual, least, most }: DividerProps) {
  const [width, setWidth] = useState(() => widthOf(pane) ?? usual)
  const drag = useRef<{ readonly fromX: number; readonly fromPx: number }>(undefined)
  const bounded = (px: number) => Math.round(Math.max(least, Math.min(most, px)))
  const show = (element: HTMLElement, px: number | undefined) => {
    const { style } = element.closest<HTMLElement>('[data-panes]')!
    if (px === undefined) style.removeProperty(`--pane-${pane}`)
    else style.setProperty(`--pane-${pane}`, `${px}px`)
    setWidth(px ?? usual)
  }
  const set = (element: HTMLElement, px: number | undefined) => {
    show(element, px)
    keepWidth(pane, px)
  }
  /** Width that is seen: a narrow window makes panes smaller than they were dragged. */
  const seen = (element: HTMLElement) => element.parentElement!.getBoundingClientRect().width
  const sign = edge === 'right' ? 1 : -1
  return (
    <div role="separator" aria-orientation="vertical" tabIndex={0} aria-label={label} title={label}
      aria-valuenow={width} aria-valuemin={least} aria-valuemax={most}
      className={`${css['divider']} ${css[edge]}`} onPointerDown={(event) => {
      if (event.button !== 0) return
      const element = event.currentTarget
      element.setPointerCapture(event.pointerId)
      drag.current = { fromX: event.clientX, fromPx: seen(element) }
    }} onPointerMove={({ clientX, currentTarget }) => {
      const { current } = drag
      if (current === undefined) return
      show(currentTarget, bounded(current.fromPx + sign * (clientX - current.fromX)))
    }} onLostPointerCapture={() => {
      if (drag.current !== undefined) keepWidth(pane, width)
      drag.current = undefined
    }} onDoubleClick={({ currentTarget }) => set(currentTarget, undefined)} onKeyDown={(event) => {
      const { currentTarget: element, key, shiftKey } = event
      const by = sign * step * (shiftKey ? 4 : 1)
      const moves: Readonly<Record<string, () => number | undefined>> = {
        ArrowRight: () => bounded(seen(element) + by),
        ArrowLeft: () => bounded(seen(element) - by),
        Home: () => least,
        End: () => most,
        Enter: () => undefined,
      }
      if (!Object.hasOwn(moves, key)) return
      event.preventDefault()
      set(element, moves[key]!())
    }} />
  )
}
