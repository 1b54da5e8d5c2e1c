/** Drawing of a graph: its nodes, the boxes of its subgraphs, and the edges between them. */

import type { GraphPicture } from '../../api/index.ts'

/** A node that is drawn: of the graph, or a folded box in the place of its nodes. */
export interface DrawnNode {
  readonly id: string
  readonly label: string
  readonly kind: 'node' | 'start' | 'end' | 'folded'
  /** The innermost box around it. */
  readonly box: string | null
  /** Number of nodes in a folded box; 0 for other nodes. */
  readonly holds: number
}

/** A subgraph that is drawn as a box around its nodes. */
export interface DrawnBox {
  readonly id: string
  readonly label: string
  readonly box: string | null
}

/** An edge between two drawn nodes. */
export interface DrawnEdge {
  readonly id: string
  readonly source: string
  readonly target: string
  readonly conditional: boolean
  /** Name of the edge in the graph. */
  readonly label: string
}

/** Nodes, boxes and edges of a drawing. */
export interface Drawing {
  readonly nodes: readonly DrawnNode[]
  readonly boxes: readonly DrawnBox[]
  readonly edges: readonly DrawnEdge[]
}

/** Boxes of larger graphs start folded. */
const mostUnfolded = 40

/** True if the boxes of a graph start folded. */
export const startsFolded = (picture: GraphPicture): boolean => picture.nodes.length > mostUnfolded

/** Draws a graph. Boxes are folded or not as they start, but for the `turned` ones. */
export function drawingOf(picture: GraphPicture, turned: ReadonlySet<string>): Drawing {
  const ids = [...new Set(picture.nodes.map(({ id }) => String(id)))]
  const boxes = [...new Set(ids.flatMap(boxesAround))]
  const folded = new Set(boxes.filter((box) => startsFolded(picture) !== turned.has(box)))
  const boxIds = new Set(boxes)
  const leaves = ids.filter((id) => !boxIds.has(id))
  const place = placeIn(folded)
  const drawn = [...new Set(leaves.map(place))]
  const shownBoxes = boxes.filter((box) => place(box) === box && !folded.has(box))
  return {
    nodes: drawn.map((id) => ({ id, label: lastName(id), box: boxesAround(id).at(-1) ?? null,
      kind: folded.has(id) ? 'folded' : kindOf(lastName(id)),
      holds: folded.has(id) ? leaves.filter((leaf) => leaf.startsWith(`${id}:`)).length : 0 })
    ),
    boxes: shownBoxes.map((id) => ({ id, label: lastName(id),
      box: boxesAround(id).at(-1) ?? null })
    ),
    edges: edgesBetween(picture, leaves, boxIds, place),
  }
}

/** The boxes around a node, the outermost first: `a`, `a:b` for `a:b:c`. */
export function boxesAround(id: string): readonly string[] {
  const names = id.split(':')
  return names.slice(1).map((_, at) => names.slice(0, at + 1).join(':'))
}

/** The last part of an id: `plan` of `research:plan`. */
export const lastName = (id: string): string => id.slice(id.lastIndexOf(':') + 1)

const kindOf = (name: string): DrawnNode['kind'] =>
  name === '__start__' ? 'start' : name === '__end__' ? 'end' : 'node'

/** Drawn id of a node: the outermost folded box around it, or the node. */
const placeIn = (folded: ReadonlySet<string>) => (id: string): string =>
  [...boxesAround(id), id].find((each) => folded.has(each)) ?? id

/** Edges lead from leaf to leaf: the layout knows no ends at boxes. Equal ones become one. */
function edgesBetween(picture: GraphPicture, leaves: readonly string[], boxes: ReadonlySet<string>,
  place: (id: string) => string): readonly DrawnEdge[] {
  const known = new Set(leaves)
  const edges = new Map<string, DrawnEdge>()
  for (const { source: from, target: to, conditional = false, data } of picture.edges) {
    const [source, target] = [String(from), String(to)].map((end, at) =>
      boxes.has(end) ? leafOf(end, at === 0 ? 'source' : 'target', picture, leaves) : end
    )
    if (source === undefined || target === undefined || !known.has(source) || !known.has(target)) {
      continue
    }
    const ends = { source: place(source), target: place(target) }
    // A node may lead to itself, a folded box to its own inside is not seen.
    if (ends.source === ends.target && source !== target) continue
    const id = `${ends.source} → ${ends.target}`
    const other = edges.get(id)
    edges.set(id, { id, ...ends, conditional: conditional && (other?.conditional ?? true),
      label: typeof data === 'string' ? data : other?.label ?? '' })
  }
  return [...edges.values()]
}

/** The node of a box that an edge of the whole box leads from, or to. */
function leafOf(box: string, side: 'source' | 'target', picture: GraphPicture,
  leaves: readonly string[]): string | undefined {
  const inside = leaves.filter((leaf) => leaf.startsWith(`${box}:`))
  const busy = new Set(
    picture.edges.filter((edge) =>
      [edge.source, edge.target].every((end) => String(end).startsWith(`${box}:`))
    ).map((edge) => String(edge[side])),
  )
  const free = inside.filter((leaf) => !busy.has(leaf))
  return side === 'source' ? free.at(-1) ?? inside.at(-1) : free[0] ?? inside[0]
}

/** A short text that differs between drawings: what their layout is kept by. */
export function hashOf(drawing: Drawing): string {
  const text = JSON.stringify([drawing.nodes.map(({ id, kind }) => [id, kind]),
    drawing.boxes.map(({ id }) => id), drawing.edges.map(({ id }) => id)])
  let [one, two] = [0xdeadbeef, 0x41c6ce57]
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    one = Math.imul(one ^ code, 2_654_435_761)
    two = Math.imul(two ^ code, 1_597_334_677)
  }
  return `${text.length}-${(one >>> 0).toString(36)}-${(two >>> 0).toString(36)}`
}
