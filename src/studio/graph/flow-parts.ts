/** Nodes and edges as the canvas draws them. */

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

/** A node of the canvas, or the box of a subgraph. */
export interface FlowNode {
  readonly id: string
  readonly type: DrawnNode['kind'] | 'box'
  readonly place: PlacedNode
  readonly name: string
  readonly activity: NodeState | undefined
  /** Number of nodes that are folded into it. */
  readonly holds: number
  /** Folds or unfolds it, for boxes. */
  readonly turn: (() => void) | undefined
  /** Breakpoints of the node, in words; empty without any. */
  readonly pause: string
  readonly isChosen: boolean
  /** Words for screen readers; undefined for what is silent. */
  readonly label: string | undefined
}

/** An edge of the canvas: a curve, and what runs along it. */
export interface FlowEdge {
  readonly id: string
  readonly path: string
  readonly conditional: boolean
  readonly activity: EdgeActivity
}

/** Nodes and boxes of the canvas at their places, with their states. */
export function flowNodes({ drawing, placed }: LaidOut, states: NodeStates,
  chosen: string | undefined, pauses: Pauses, turn: (box: string) => void): FlowNode[] {
  const drawn = new Map(drawing.nodes.map((node) => [node.id, node]))
  const labels = new Map(drawing.boxes.map(({ id, label }) => [id, label]))
  return [
    ...placed.boxes.map((box): FlowNode => ({ id: `box::${box.id}`, type: 'box', place: box,
      name: labels.get(box.id)!, holds: 0, pause: '', turn: () => turn(box.id), isChosen: false,
      label: undefined, activity: Object.hasOwn(states, box.id) ? states[box.id] : undefined })
    ),
    ...placed.nodes.map((place): FlowNode => {
      const node = drawn.get(place.id)!
      const activity = activityOf(node, states)
      const pause = pauseWords(pauses, node.id)
      return { id: node.id, type: node.kind, place, name: node.label, activity, pause,
        holds: node.holds, isChosen: chosen === node.id, label: labelOf(node, activity, pause),
        turn: node.kind === 'folded' ? () => turn(node.id) : undefined }
    }),
  ]
}

/**
 * Words of a node for screen readers: all that is seen of it, and its state. The ends are silent.
 */
function labelOf(node: DrawnNode, activity: NodeState | undefined, pause: string):
  | string
  | undefined {
  if (node.kind === 'start' || node.kind === 'end') return undefined
  const seen = [node.label, timesWords(activity), durationWords(activity),
    node.holds > 0 ? `${count(node.holds)} nodes` : ''].filter((words) => words !== '')
  const around = boxesAround(node.id).map((box) => `${lastName(box)}, `).join('')
  return `${around}${seen.join(' ')}: ${statusWords(activity?.state ?? 'idle')}${
    pause === '' ? '' : `, ${pause}`
  }`
}

/** Edges of the canvas along their curves, with their activity. */
export function flowEdges({ drawing, placed }: LaidOut, states: NodeStates): FlowEdge[] {
  const ways = new Map(placed.edges.map(({ id, points }) => [id, curve(points)]))
  const activities = edgeActivities(drawing, states)
  return drawing.edges.map(({ id, conditional }) => ({ id, conditional, path: ways.get(id)!,
    activity: activities.get(id)! })
  )
}
