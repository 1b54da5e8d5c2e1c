/**
 * A list of any length with rows of one height: only those near the screen are in the page. The
 * list has the focus, not its rows; arrows, Page keys, Home and End move the active row.
 */

import { useEffect, useLayoutEffect, useRef, useState } from 'react'
import type { KeyboardEvent, ReactNode, RefObject } from 'react'

import css from './row-grid.module.css'
import { clampTop, rowsAt, scaleOf, scrolledHeight, topToSee } from './row-window.ts'
import type { RowSpace } from './row-window.ts'

/** Rows drawn before and after those that are seen. */
const around = 8

/** The rows near the screen, the last one included. */
export interface RowRange {
  readonly first: number
  readonly last: number
}

/** A list; a row is drawn by its index. */
export interface RowGridProps {
  readonly label: string
  /** Begins the ids of the rows. */
  readonly name: string
  readonly total: number
  /** False while nobody knows how many rows will come. */
  readonly isWhole?: boolean
  readonly rowHeight: number
  readonly row: (index: number) => ReactNode
  readonly active: number
  readonly activate: (index: number) => void
  readonly open: (index: number) => void
  /** Chooses a row or not; without it rows cannot be chosen. */
  readonly toggle?: ((index: number) => void) | undefined
  readonly isChosen?: (index: number) => boolean
  readonly seen: (range: RowRange) => void
  /** Key of the scroll position: a list that comes back with it stands where it stood. */
  readonly place: string
  /** True if the active row is shown as chosen, whether the list has the focus or not. */
  readonly marksActive?: boolean
  readonly box: RefObject<HTMLDivElement | null>
}

/** Scroll positions of lists that were left, in pixels, while the page lives. */
const places = new Map<string, number>()

/** List whose rows are drawn only while they are on the screen. */
export function RowGrid(props: RowGridProps) {
  const { label, name, total, isWhole = true, rowHeight, row, active, seen, toggle, box } = props
  const { space, top, setTop } = useScrolling(props)
  const { first, last } = rowsAt(space, top, around)
  useEffect(() => seen({ first, last }), [first, last, seen])
  const shift = scaleOf(space) === 1 ? 0 : (box.current?.scrollTop ?? 0) - top
  const move = (index: number) => {
    const next = Math.max(0, Math.min(total - 1, index))
    props.activate(next)
    setTop(topToSee(space, top, next))
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.metaKey || event.ctrlKey) return
    const page = Math.max(1, Math.floor(space.viewHeight / rowHeight) - 1)
    const next =
      { ArrowDown: active + 1, ArrowUp: active - 1, PageDown: active + page, PageUp: active - page,
        Home: 0, End: total - 1 }[event.key]
    if (next !== undefined) move(next)
    else if (event.key === 'Enter' && total > 0) props.open(active)
    else if (event.key === ' ' && toggle !== undefined && total > 0) toggle(active)
    else return
    event.preventDefault()
  }
  const indexes = Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => first + at)
  return (
    <div ref={box} role="grid" aria-label={label} tabIndex={0}
      className={`${css['grid']} ${props.marksActive ? css['marked'] : ''}`}
      aria-rowcount={isWhole ? total : -1} aria-multiselectable={toggle !== undefined}
      aria-activedescendant={active >= first && active <= last ? `${name}-${active}` : undefined}
      onKeyDown={onKeyDown}
    >
      <div role="rowgroup" className={css['rows']} style={{ height: scrolledHeight(space) }}>
        {indexes.map((index) => (
          <div key={index} id={`${name}-${index}`} role="row" aria-rowindex={index + 1}
            aria-selected={toggle && (props.isChosen?.(index) ?? false)}
            className={`${css['row']} ${index === active ? css['active'] : ''}`}
            style={{ height: rowHeight, transform: `translateY(${index * rowHeight + shift}px)` }}
          >
            {row(index)}
          </div>
        ))}
      </div>
    </div>
  )
}

/** Follows the scroll bar. Wheels move by rows even where the bar stands for many of them. */
function useScrolling({ total, rowHeight, box, place, active }: RowGridProps) {
  const [viewHeight, setViewHeight] = useState(() => globalThis.innerHeight)
  const [top, setShownTop] = useState(places.get(place) ?? 0)
  const exact = useRef(top)
  const space: RowSpace = { total, rowHeight, viewHeight }
  const now = useRef(space)
  now.current = space
  const setTop = (wanted: number) => {
    exact.current = clampTop(now.current, wanted)
    box.current!.scrollTop = exact.current / scaleOf(now.current)
    places.set(place, exact.current)
    setShownTop(exact.current)
  }
  useLayoutEffect(() => {
    const element = box.current!
    const measure = new ResizeObserver(() => setViewHeight(element.clientHeight))
    measure.observe(element)
    setViewHeight(element.clientHeight)
    const onScroll = () => {
      const scale = scaleOf(now.current)
      // What was set exactly is rounded by the bar.
      if (Math.abs(element.scrollTop - exact.current / scale) > 1) {
        exact.current = clampTop(now.current, element.scrollTop * scale)
        places.set(place, exact.current)
      }
      setShownTop(exact.current)
    }
    const onWheel = (event: WheelEvent) => {
      if (scaleOf(now.current) === 1 || event.ctrlKey) return
      event.preventDefault()
      setTop(exact.current + event.deltaY * (event.deltaMode === 1 ? rowHeight : 1))
    }
    element.addEventListener('scroll', onScroll, { passive: true })
    element.addEventListener('wheel', onWheel, { passive: false })
    return () => {
      measure.disconnect()
      element.removeEventListener('scroll', onScroll)
      element.removeEventListener('wheel', onWheel)
    }
  }, [])
  useLayoutEffect(() => setTop(places.get(place) ?? 0), [place])
  // A row that keys outside of the list made active is to be seen.
  const shownActive = useRef(active)
  useLayoutEffect(() => {
    if (shownActive.current === active) return
    shownActive.current = active
    setTop(topToSee(now.current, exact.current, active))
  }, [active])
  return { space, top: clampTop(space, top), setTop }
}
