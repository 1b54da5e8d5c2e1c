/** All of a graph in small, with a frame around the part that its canvas shows. */

import type { PointerEvent } from 'react'

import type { FlowNode } from './flow-parts.ts'
import css from './graph.module.css'
import type { Point } from './placed.ts'
import type { Size } from './viewport.ts'

/** Pixels of its longer side. */
const side = 132

/** A map for those who point; keys lead from node to node, and the canvas follows them. */
export function MiniMap({ nodes, graph, seen, centre }: {
  readonly nodes: readonly FlowNode[]
  readonly graph: Size
  readonly seen: Size & Point
  readonly centre: (point: Point) => void
}) {
  const scale = side / Math.max(graph.width, graph.height)
  const go = (event: PointerEvent) => {
    const { left, top, width, height } = event.currentTarget.getBoundingClientRect()
    centre({ x: (event.clientX - left) / width * graph.width,
      y: (event.clientY - top) / height * graph.height })
  }
  return (
    <svg className={css['map']} aria-hidden="true" viewBox={`0 0 ${graph.width} ${graph.height}`}
      width={Math.max(24, graph.width * scale)} height={Math.max(24, graph.height * scale)}
      preserveAspectRatio="none" onPointerDown={(event) => {
      event.stopPropagation()
      event.currentTarget.setPointerCapture(event.pointerId)
      go(event)
    }} onPointerMove={(event) => event.buttons > 0 && go(event)}>
      {nodes.filter(({ type }) =>
        type !== 'box'
      ).map(({ id, place, activity }) => (
        <rect key={id} x={place.x} y={place.y} width={place.width} height={place.height} rx={6}
          data-state={activity?.state ?? 'idle'} />
      ))}
      <rect x={seen.x} y={seen.y} width={seen.width} height={seen.height} className={css['frame']}
        vectorEffect="non-scaling-stroke" />
    </svg>
  )
}
