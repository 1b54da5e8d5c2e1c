/** A plain layout in layers: for graphs that the better one cannot place. */

import type { Drawing, DrawnEdge } from './drawing.ts'
import { sizeOfNode, turned } from './placed.ts'
import type { Direction, Placed, PlacedNode, Point } from './placed.ts'

const gapX = 34
const gapY = 48
const margin = 16

/** Places any graph; boxes are left out. */
export function layered(drawing: Drawing, direction: Direction): Placed {
  if (direction === 'down') return downwardsPlaced(drawing, sizeOfNode)
  return turned(downwardsPlaced(drawing, (node) => {
    const { width, height } = sizeOfNode(node)
    return { width: height, height: width }
  }))
}

function downwardsPlaced(drawing: Drawing, sizeOf: typeof sizeOfNode): Placed {
  const layers = ordered(layersOf(drawing), drawing.edges)
  const sizes = new Map(drawing.nodes.map((node) => [node.id, sizeOf(node)]))
  const widths = layers.map((layer) =>
    layer.reduce((sum, id) => sum + sizes.get(id)!.width + gapX, -gapX)
  )
  const width = Math.max(0, ...widths)
  const nodes: PlacedNode[] = []
  let y = margin
  for (const [at, layer] of layers.entries()) {
    let x = margin + (width - widths[at]!) / 2
    const height = Math.max(...layer.map((id) => sizes.get(id)!.height))
    for (const id of layer) {
      const size = sizes.get(id)!
      nodes.push({ id, x, y: y + (height - size.height) / 2, ...size })
      x += size.width + gapX
    }
    y += height + gapY
  }
  const places = new Map(nodes.map((node) => [node.id, node]))
  return { nodes, boxes: [], width: width + 2 * margin, height: y - gapY + margin,
    edges: drawing.edges.map(({ id, source, target }) => ({ id,
      points: wayBetween(places.get(source)!, places.get(target)!) })
    ) }
}

/** Nodes by layer: each below all that lead to it, except for the edges that close a circle. */
function layersOf({ nodes, edges }: Drawing): readonly (readonly string[])[] {
  const after = Map.groupBy(edges, ({ source }) => source)
  const order = downwards(nodes.map((node) => node.id), after)
  const turns = new Map(order.map((id, turn) => [id, turn]))
  const depth = new Map<string, number>()
  for (const id of order) {
    const from = depth.get(id) ?? 0
    depth.set(id, from)
    for (const { target } of after.get(id) ?? []) {
      if (turns.get(target)! <= turns.get(id)!) continue
      depth.set(target, Math.max(depth.get(target) ?? 0, from + 1))
    }
  }
  const layers = Map.groupBy(order, (id) => depth.get(id)!)
  return [...layers].sort(([one], [other]) => one - other).map(([, ids]) => ids)
}

/** All nodes, each before those that it leads to, as far as there are no circles. */
function downwards(ids: readonly string[],
  after: ReadonlyMap<string, readonly DrawnEdge[]>): readonly string[] {
  const done: string[] = []
  const seen = new Set<string>()
  for (const first of ids) {
    const waiting: { readonly id: string; readonly isLeft: boolean }[] = [{ id: first,
      isLeft: false }]
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { id, isLeft } = next
      if (isLeft) done.push(id)
      if (isLeft || seen.has(id)) continue
      seen.add(id)
      waiting.push({ id, isLeft: true })
      for (const { target } of after.get(id) ?? []) waiting.push({ id: target, isLeft: false })
    }
  }
  return done.reverse()
}

/** Puts each node of a layer near the middle of those above it. */
function ordered(layers: readonly (readonly string[])[],
  edges: readonly DrawnEdge[]): readonly (readonly string[])[] {
  const above = Map.groupBy(edges, ({ target }) => target)
  const places = new Map<string, number>()
  return layers.map((layer) => {
    const middle = (id: string): number => {
      const seen = (above.get(id) ?? []).flatMap(({ source }) => places.get(source) ?? [])
      return seen.length === 0 ? .5 : seen.reduce((sum, each) => sum + each, 0) / seen.length
    }
    const sorted = layer.map((id) => ({ id, middle: middle(id) }))
      .sort((one, other) => one.middle - other.middle).map(({ id }) => id)
    for (const [at, id] of sorted.entries()) places.set(id, (at + .5) / sorted.length)
    return sorted
  })
}

/** Down from one node to the next; ways back go round at the right. */
function wayBetween(from: PlacedNode, to: PlacedNode): readonly Point[] {
  const start = { x: from.x + from.width / 2, y: from.y + from.height }
  const end = { x: to.x + to.width / 2, y: to.y }
  if (end.y > start.y) return [start, { x: (start.x + end.x) / 2, y: (start.y + end.y) / 2 }, end]
  const side = Math.max(from.x + from.width, to.x + to.width) + gapX / 2
  return [{ x: from.x + from.width, y: from.y + from.height / 2 }, { x: side,
    y: from.y + from.height / 2 }, { x: side, y: to.y + to.height / 2 }, { x: to.x + to.width,
    y: to.y + to.height / 2 }]
}
