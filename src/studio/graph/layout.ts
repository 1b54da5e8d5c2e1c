/** Places a graph: with its boxes if that works, else without them, else in plain layers. */

import dagre from '@dagrejs/dagre'

import type { Drawing, DrawnBox } from './drawing.ts'
import { layered } from './layered.ts'
import { sizeOfNode } from './placed.ts'
import type { Direction, Placed, PlacedNode } from './placed.ts'

/** Larger ones take the better layout longer than a person waits. */
const mostEdges = 1_500

/** Places a drawing. It never throws: a plain layout takes the place of one that fails. */
export function place(drawing: Drawing, direction: Direction): Placed {
  if (drawing.edges.length + drawing.nodes.length <= mostEdges) {
    for (const withBoxes of [true, false]) {
      try {
        return placedByDagre(drawing, withBoxes, direction)
      } catch {
        // It fails for some graphs with boxes ("not possible to find intersection").
      }
    }
  }
  return layered(drawing, direction)
}

function placedByDagre(drawing: Drawing, withBoxes: boolean, direction: Direction): Placed {
  const graph = new dagre.graphlib.Graph({ compound: true, multigraph: true })
  graph.setGraph({ rankdir: direction === 'down' ? 'TB' : 'LR', nodesep: 34, ranksep: 40,
    edgesep: 18, marginx: 16, marginy: 16 })
  const boxes = withBoxes ? drawing.boxes : []
  for (const { id } of boxes) graph.setNode(boxKey(id), {})
  for (const node of drawing.nodes) graph.setNode(node.id, sizeOfNode(node))
  for (const { id, box } of boxes) if (box !== null) graph.setParent(boxKey(id), boxKey(box))
  if (withBoxes) {
    for (const { id, box } of drawing.nodes) if (box !== null) graph.setParent(id, boxKey(box))
  }
  for (const { id, source, target } of drawing.edges) graph.setEdge(source, target, {}, id)
  dagre.layout(graph)
  const at = (id: string, key: string): PlacedNode => {
    const { x, y, width, height } = graph.node(key) as PlacedNode
    if (![x, y, width, height].every(Number.isFinite)) throw new Error(`${id} has no place.`)
    return { id, x: x - width / 2, y: y - height / 2, width, height }
  }
  const { width = 0, height = 0 } = graph.graph() as { width?: number; height?: number }
  return {
    nodes: drawing.nodes.map(({ id }) => at(id, id)),
    boxes: boxes.map(({ id }) => withRoom(at(id, boxKey(id)), levelsIn(id, boxes))),
    edges: drawing.edges.map(({ id, source, target }) => {
      const { points } = graph.edge(source, target, id) as { points: { x: number; y: number }[] }
      return { id, points: points.map(({ x, y }) => ({ x, y })) }
    }),
    width,
    height,
  }
}

/** Pixels above the nodes of a box, for its name. */
const nameHeight = 12

/** A box with room for its name, and for those of the boxes in it. */
const withRoom = (box: PlacedNode, levels: number): PlacedNode => ({ ...box,
  y: box.y - levels * nameHeight, height: box.height + levels * nameHeight })

/** Number of boxes that lie in each other from a box on inwards, itself included. */
const levelsIn = (box: string, boxes: readonly DrawnBox[]): number =>
  1 + Math.max(0, ...boxes.filter((each) => each.box === box).map(({ id }) => levelsIn(id, boxes)))

/** Boxes are nodes as well there: no node of a graph has such an id. */
const boxKey = (id: string): string => `box::${id}`
