/** The viewport of a canvas: by mouse, wheel, fingers and buttons, and fitted until then. */

import { useEffect, useMemo, useRef, useState } from 'react'
import type { PointerEvent, RefObject } from 'react'

import type { PlacedNode, Point } from './placed.ts'
import { centredOn, readable, showing, whole, zoomedAt } from './viewport.ts'
import type { Size, Viewport } from './viewport.ts'

/** Pixels that a press may move and still be a click. */
const clickMax = 4
const zoomStep = 1.25

/** Ways to move a canvas from outside of it. */
export interface ViewportActs {
  readonly zoomIn: () => void
  readonly zoomOut: () => void
  readonly fit: () => void
  readonly centre: (point: Point) => void
  readonly show: (node: PlacedNode) => void
}

/** The viewport over a graph. It opens on all of it, or on `first` where that is too small. */
export function useViewport(box: RefObject<HTMLDivElement | null>, graph: Size,
  first: PlacedNode | undefined) {
  const [size, setSize] = useState<Size>()
  const [chosen, setView] = useState<Viewport | 'whole'>()
  const opened = useMemo(() => size && readable(size, graph, first), [size, graph, first])
  // A fitted canvas keeps the whole graph when its size changes: a panel may open next to it.
  const fitted = useMemo(() => size && whole(size, graph), [size, graph])
  // Another graph is seen from its beginning.
  const [seen, setSeen] = useState(graph)
  if (seen !== graph) {
    setSeen(graph)
    setView(undefined)
  }
  const view = chosen === 'whole' ? fitted : chosen ?? opened
  const now = useRef({ view, size })
  now.current = { view, size }
  const acts = useMemo(() => actsOn(now, graph, setView), [graph])
  useEffect(() => {
    const element = box.current!
    const sizes = new ResizeObserver(() =>
      setSize({ width: element.clientWidth, height: element.clientHeight })
    )
    sizes.observe(element)
    // A wheel that zooms keeps the page from doing so: React's own listeners may not.
    const turned = (event: WheelEvent) => {
      event.preventDefault()
      acts.wheel(event, placeIn(element, event))
    }
    element.addEventListener('wheel', turned, { passive: false })
    return () => {
      sizes.disconnect()
      element.removeEventListener('wheel', turned)
    }
  }, [acts])
  return { view, size, acts, hand: useHand(acts.move, acts.pinch) }
}

function placeIn(element: Element, { clientX, clientY }: { clientX: number; clientY: number }) {
  const { left, top } = element.getBoundingClientRect()
  return { x: clientX - left, y: clientY - top }
}

function actsOn(now: { current: { view: Viewport | undefined; size: Size | undefined } },
  graph: Size, set: (view: Viewport | 'whole') => void) {
  const change = (next: (view: Viewport, size: Size) => Viewport) => {
    const { view, size } = now.current
    if (view === undefined || size === undefined) return
    const changed = next(view, size)
    // Two moves within one frame are both done.
    now.current = { view: changed, size }
    if (changed !== view) set(changed)
  }
  const move = (x: number, y: number) =>
    change((view) => ({ ...view, x: view.x + x, y: view.y + y }))
  const pinch = (point: Point, factor: number) => change((view) => zoomedAt(view, point, factor))
  const zoom = (factor: number) =>
    change((view, { width, height }) => zoomedAt(view, { x: width / 2, y: height / 2 }, factor))
  const fit = () => {
    const { size } = now.current
    if (size !== undefined) now.current = { view: whole(size, graph), size }
    set('whole')
  }
  return { move, pinch,
    wheel: ({ deltaX, deltaY, ctrlKey }: WheelEvent, at: Point) =>
      ctrlKey ? pinch(at, Math.exp(-deltaY / 200)) : move(-deltaX, -deltaY),
    zoomIn: () => zoom(zoomStep), zoomOut: () => zoom(1 / zoomStep), fit,
    centre: (point: Point) => change((view, size) => centredOn(view, size, point)),
    show: (node: PlacedNode) => change((view, size) => showing(view, size, node)) }
}

/** Drags by one pointer, and zooms between two. A drag is no click. */
function useHand(move: (x: number, y: number) => void,
  pinch: (point: Point, factor: number) => void) {
  const state = useRef({ pointers: new Map<number, Point>(), moved: 0 })
  const up = ({ pointerId }: PointerEvent) => void state.current.pointers.delete(pointerId)
  return {
    onPointerDown: (event: PointerEvent) => {
      const { pointers } = state.current
      if (event.button !== 0) return
      if (pointers.size === 0) state.current.moved = 0
      pointers.set(event.pointerId, placeIn(event.currentTarget, event))
    },
    onPointerMove: (event: PointerEvent) => {
      const { pointers } = state.current
      const before = pointers.get(event.pointerId)
      if (before === undefined) return
      const at = placeIn(event.currentTarget, event)
      const other = [...pointers].find(([id]) => id !== event.pointerId)?.[1]
      pointers.set(event.pointerId, at)
      state.current.moved += Math.hypot(at.x - before.x, at.y - before.y)
      if (state.current.moved <= clickMax) return
      // What is pressed hears its click only while nobody else has the pointer.
      event.currentTarget.setPointerCapture(event.pointerId)
      if (other !== undefined) {
        pinch(other, Math.max(1, distance(at, other)) / Math.max(1, distance(before, other)))
      } else move(at.x - before.x, at.y - before.y)
    },
    onPointerUp: up,
    onPointerCancel: up,
    onPointerLeave: up,
    onClickCapture: (event: { stopPropagation(): void; preventDefault(): void }) => {
      if (state.current.moved > clickMax) event.stopPropagation()
      state.current.moved = 0
    },
  }
}

const distance = (one: Point, other: Point): number => Math.hypot(one.x - other.x, one.y - other.y)
