/** Places and sizes of the parts of a graph, in pixels. */

import type { DrawnNode } from './drawing.ts'

/** Way of a graph: down the page, or to the right. */
export type Direction = 'down' | 'right'

/** A point, in pixels from the upper left corner. */
export interface Point {
  readonly x: number
  readonly y: number
}

/** A node or a box at its place. */
export interface PlacedNode extends Point {
  readonly id: string
  readonly width: number
  readonly height: number
}

/** An edge by the points that it passes. */
export interface PlacedEdge {
  readonly id: string
  readonly points: readonly Point[]
}

/** A graph at its place. */
export interface Placed {
  readonly nodes: readonly PlacedNode[]
  readonly boxes: readonly PlacedNode[]
  readonly edges: readonly PlacedEdge[]
  readonly width: number
  readonly height: number
}

/** The size of a node: room for its name, how often it ran, and how long. */
export function sizeOfNode({ kind, label }: DrawnNode): { width: number; height: number } {
  if (kind === 'start' || kind === 'end') return { width: 26, height: 26 }
  return { width: Math.min(280, Math.max(146, Math.round(label.length * 7.1) + 104)), height: 36 }
}

/** A graph that goes down, turned so that it goes to the right; `x` and `y` change places. */
export function turned({ nodes, boxes, edges, width, height }: Placed): Placed {
  const place = (node: PlacedNode) => ({ id: node.id, x: node.y, y: node.x, width: node.height,
    height: node.width })
  return { nodes: nodes.map(place), boxes: boxes.map(place), width: height, height: width,
    edges: edges.map(({ id, points }) => ({ id,
      points: points.map(({ x, y }) => ({ x: y, y: x })) })
    ) }
}

/** A smooth line through points, as the path of an SVG. */
export function curve(points: readonly Point[]): string {
  const at = ({ x, y }: Point) => `${round(x)},${round(y)}`
  const [first, ...rest] = points
  if (first === undefined || rest.length === 0) return ''
  if (rest.length === 1) return `M${at(first)}L${at(rest[0]!)}`
  const bends = rest.slice(0, -1).map((bend, place) => {
    const next = rest[place + 1]!
    const isLast = place === rest.length - 2
    const end = isLast ? next : { x: (bend.x + next.x) / 2, y: (bend.y + next.y) / 2 }
    return `Q${at(bend)} ${at(end)}`
  })
  return `M${at(first)}${bends.join('')}`
}

const round = (value: number): number => Math.round(value * 10) / 10
