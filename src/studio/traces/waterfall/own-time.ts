/** The time that each span spent itself, while none of its children ran. Pure. */

import type { SpanNode, SpanTree } from './span-tree.ts'

/** Steps of the scale of shares: at which share of the whole time the next colour begins. */
const steps = [0.05, 0.2, 0.5] as const

/** Own time of a span in microseconds: its length without the time that its children cover. */
export function ownTimeOf(node: SpanNode): number {
  let coveredTo = node.from
  let covered = 0
  // The children are in the order of time.
  for (const child of node.children) {
    const from = Math.max(child.from, coveredTo)
    const to = Math.min(child.to, node.to)
    if (to <= from) continue
    covered += to - from
    coveredTo = to
  }
  return node.to - node.from - covered
}

/** Share of the whole time of a trace that a span spent itself, from 0 to 1. */
export const ownShareOf = (node: SpanNode, { whole }: Pick<SpanTree, 'whole'>): number =>
  Math.min(1, ownTimeOf(node) / Math.max(1, whole.to - whole.from))

/** Place of a share on the scale of colours, from 0 to 3. */
export const heatOf = (share: number): number => steps.filter((step) => share >= step).length

/** The spans with the longest own times, the slowest first. A tie goes to the earlier one. */
export function slowestOf({ byId }: Pick<SpanTree, 'byId'>, most: number): readonly SpanNode[] {
  return [...byId.values()]
    .map((node) => ({ node, own: ownTimeOf(node) }))
    .sort((a, b) => b.own - a.own || a.node.from - b.node.from)
    .slice(0, most)
    .map(({ node }) => node)
}
