/** The critical path: the chain of spans without which the trace would have ended earlier. Pure. */

import type { SpanNode, SpanTree } from './span-tree.ts'
import type { TimeRange } from './time-axis.ts'

/** Times in which a span itself was on the path, by the id of the span, the last one first. */
export type CriticalPath = ReadonlyMap<string, readonly TimeRange[]>

interface Walk extends TimeRange {
  /** Undefined for the trace, whose children are its roots. */
  readonly node: SpanNode | undefined
  /** By their ends, the last one first. */
  readonly children: readonly SpanNode[]
  at: number
  /** From here to the end of the span the path is known. */
  cursor: number
}

/**
 * The path, from the end back to the beginning: at each moment it lies in the child that ended
 * last before it, else in the span itself. A child that runs on beside it is not on the path.
 */
export function criticalPathOf({ roots, whole }: Pick<SpanTree, 'roots' | 'whole'>): CriticalPath {
  const path = new Map<string, TimeRange[]>()
  const add = (node: SpanNode | undefined, from: number, to: number) => {
    if (node === undefined || to <= from) return
    const ranges = path.get(node.span.id)
    if (ranges === undefined) path.set(node.span.id, [{ from, to }])
    else ranges.push({ from, to })
  }
  // A trace may be deeper than the stack of calls.
  const stack: Walk[] = [walkOf(undefined, roots, whole)]
  for (let walk = stack.at(-1); walk !== undefined; walk = stack.at(-1)) {
    const child = walk.children[walk.at++]
    if (child === undefined) {
      add(walk.node, walk.from, walk.cursor)
      stack.pop()
      continue
    }
    const range = { from: Math.max(child.from, walk.from), to: Math.min(child.to, walk.to) }
    if (range.to > walk.cursor || range.to <= range.from) continue
    add(walk.node, range.to, walk.cursor)
    walk.cursor = range.from
    stack.push(walkOf(child, child.children, range))
  }
  return path
}

function walkOf(node: SpanNode | undefined, children: readonly SpanNode[],
  { from, to }: TimeRange): Walk {
  const endOf = (child: SpanNode) => Math.min(child.to, to)
  return { node, from, to, cursor: to, at: 0,
    children: children.toSorted((a, b) => endOf(b) - endOf(a) || a.from - b.from) }
}
