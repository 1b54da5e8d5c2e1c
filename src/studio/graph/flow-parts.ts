/** Nodes and edges as the library of the canvas takes them. */

import { Position } from '@xyflow/react'
import type { Edge, Node } from '@xyflow/react'

import type { NodeState, NodeStates } from '../live/node-state.ts'
import { count } from '../parts/amounts.ts'
import { statusWords } from '../parts/status.tsx'
import { boxesAround, lastName } from './drawing.ts'
import type { DrawnNode } from './drawing.ts'
import { activityOf, durationWords, edgeActivities, timesWords } from './node-activity.ts'
import type { EdgeActivity } from './node-activity.ts'
import { pauseWords } from './pauses.ts'
import type { Pauses } from './pauses.ts'
import { curve } from './placed.ts'
import type { PlacedNode } from './placed.ts'
import type { LaidOut } from './use-layout.ts'

/** Data of a node of the canvas. */
export interface FlowNodeData extends Record<string, unknown> {
  readonly label: string
  readonly activity: NodeState | undefined
  /** Number of nodes that are folded into it. */
  readonly holds: number
  /** Folds or unfolds it, for boxes. */
  readonly turn: (() => void) | undefined
  /** Breakpoints of the node, in words; empty without any. */
  readonly pause: string
}

/** A node of the canvas. */
export type FlowNode = Node<FlowNodeData>

/** An edge of the canvas. */
export type FlowEdge = Edge<
  { readonly path: string; readonly conditional: boolean; readonly activity: EdgeActivity },
  'warp'
>

/** Nodes and boxes of the canvas at their places, with their states. */
export function flowNodes({ drawing, placed }: LaidOut, states: NodeStates,
  chosen: string | undefined, pauses: Pauses, turn: (box: string) => void): FlowNode[] {
  const drawn = new Map(drawing.nodes.map((node) => [node.id, node]))
  const labels = new Map(drawing.boxes.map(({ id, label }) => [id, label]))
  return [
    ...placed.boxes.map((box): FlowNode => ({ ...placeOf(box), id: `box::${box.id}`, type: 'box',
      zIndex: -1, selectable: false, focusable: false, draggable: false,
      data: { label: labels.get(box.id)!, holds: 0, pause: '', turn: () => turn(box.id),
        activity: Object.hasOwn(states, box.id) ? states[box.id] : undefined } })
    ),
    ...placed.nodes.map((at): FlowNode => {
      const node = drawn.get(at.id)!
      const activity = activityOf(node, states)
      const pause = pauseWords(pauses, at.id)
      return { ...placeOf(at), id: at.id, type: node.kind, handles: handlesOf(at), draggable: false,
        selected: chosen === at.id, ...roleOf(node, activity, pause),
        data: { label: node.label, activity, holds: node.holds, pause,
          turn: node.kind === 'folded' ? () => turn(at.id) : undefined } }
    }),
  ]
}

const placeOf = ({ x, y, width, height }: PlacedNode) => ({ position: { x, y }, width, height,
  measured: { width, height } })

/** Without them edges vanish when the graph is exchanged. */
const handlesOf = ({ width, height }: PlacedNode): FlowNode['handles'] => [
  { type: 'target', position: Position.Top, x: width / 2, y: 0, width: 1, height: 1 },
  { type: 'source', position: Position.Bottom, x: width / 2, y: height, width: 1, height: 1 },
]

/**
 * Words of a node for screen readers: all that is seen of it, and its state. The ends are silent.
 */
function roleOf(node: DrawnNode, activity: NodeState | undefined, pause: string) {
  if (node.kind === 'start' || node.kind === 'end') {
    return { selectable: false, focusable: false, domAttributes: { 'aria-hidden': true } as const }
  }
  const seen = [node.label, timesWords(activity), durationWords(activity),
    node.holds > 0 ? `${count(node.holds)} nodes` : ''].filter((words) => words !== '')
  const around = boxesAround(node.id).map((box) => `${lastName(box)}, `).join('')
  return { ariaRole: 'button' as const,
    ariaLabel: `${around}${seen.join(' ')}: ${statusWords(activity?.state ?? 'idle')}${
      pause === '' ? '' : `, ${pause}`
    }` }
}

/** Edges of the canvas along their curves, with their activity. */
export function flowEdges({ drawing, placed }: LaidOut, states: NodeStates): FlowEdge[] {
  const ways = new Map(placed.edges.map(({ id, points }) => [id, curve(points)]))
  const activities = edgeActivities(drawing, states)
  return drawing.edges.map(({ id, source, target, conditional }) => ({ id, source, target,
    type: 'warp', focusable: false, selectable: false, domAttributes: { 'aria-hidden': true },
    data: { path: ways.get(id)!, conditional, activity: activities.get(id)! } })
  )
}
