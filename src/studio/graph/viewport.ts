/** Part of a graph that its canvas shows: moved, zoomed, and led to what matters. */

import type { PlacedNode, Point } from './placed.ts'

/** Width and height in pixels. */
export interface Size {
  readonly width: number
  readonly height: number
}

/** Place of the corner of a graph on the canvas, in pixels of the screen, and its scale. */
export interface Viewport extends Point {
  readonly zoom: number
}

const leastZoom = .1
const mostZoom = 2
/** Words of nodes have 12 pixels: smaller ones than these nine are read by few. */
const readableZoom = .75
/** Pixels that stay free around what is shown. */
const room = 16

const bounded = (value: number, least: number, most: number): number =>
  Math.max(least, Math.min(most, value))

/** Shows all of a graph, as large as there is room for, and never enlarged. */
export function whole(canvas: Size, graph: Size): Viewport {
  const zoom = bounded(
    Math.min((canvas.width - 2 * room) / graph.width, (canvas.height - 2 * room) / graph.height),
    leastZoom,
    1,
  )
  return { zoom, x: (canvas.width - graph.width * zoom) / 2,
    y: (canvas.height - graph.height * zoom) / 2 }
}

/** Shows all of a graph if it can be read so, else the part around a node, or its beginning. */
export function readable(canvas: Size, graph: Size, node: PlacedNode | undefined): Viewport {
  const all = whole(canvas, graph)
  if (all.zoom >= readableZoom) return all
  const at = node ?? { x: 0, y: 0, width: 0, height: 0 }
  const axis = (side: number, length: number, start: number, extent: number) => {
    const scaled = length * readableZoom
    return scaled <= side
      ? (side - scaled) / 2
      : bounded(side / 2 - (start + extent / 2) * readableZoom, side - scaled, 0)
  }
  return { zoom: readableZoom, x: axis(canvas.width, graph.width, at.x, at.width),
    y: axis(canvas.height, graph.height, at.y, at.height) }
}

/** Zooms by a factor; what lies at a point of the canvas stays there. */
export function zoomedAt({ x, y, zoom }: Viewport, point: Point, factor: number): Viewport {
  const next = bounded(zoom * factor, leastZoom, mostZoom)
  const scale = next / zoom
  return { zoom: next, x: point.x - (point.x - x) * scale, y: point.y - (point.y - y) * scale }
}

/** Puts a point of the graph into the middle of the canvas. */
export const centredOn = ({ zoom }: Viewport, canvas: Size, { x, y }: Point): Viewport => ({ zoom,
  x: canvas.width / 2 - x * zoom, y: canvas.height / 2 - y * zoom })

/** Moves as little as shows a node. */
export function showing(view: Viewport, canvas: Size, node: PlacedNode): Viewport {
  const axis = (offset: number, side: number, start: number, extent: number) => {
    const [from, to] = [start * view.zoom + offset, (start + extent) * view.zoom + offset]
    return from < room
      ? offset + room - from
      : to > side - room
      ? offset + side - room - to
      : offset
  }
  const [x, y] = [axis(view.x, canvas.width, node.x, node.width),
    axis(view.y, canvas.height, node.y, node.height)]
  return x === view.x && y === view.y ? view : { ...view, x, y }
}

/** Part of the graph that is seen, in its own pixels. */
export const seenPart = ({ x, y, zoom }: Viewport, { width, height }: Size): Size & Point => ({
  x: -x / zoom,
  y: -y / zoom,
  width: width / zoom,
  height: height / zoom,
})

/** True if all of a graph is seen. */
export function isAllSeen(view: Viewport, canvas: Size, graph: Size): boolean {
  const { x, y, width, height } = seenPart(view, canvas)
  return x <= 1 && y <= 1 && x + width >= graph.width - 1 && y + height >= graph.height - 1
}

/** True if any of a node is seen, or lies so near that it soon may be. */
export function isNear(view: Viewport, canvas: Size, node: PlacedNode): boolean {
  const { x, y, width, height } = seenPart(view, canvas)
  return node.x < x + 2 * width && node.x + node.width > x - width &&
    node.y < y + 2 * height && node.y + node.height > y - height
}
