/** Breakpoints: nodes before or after which the next run pauses. */

/** Names of nodes. Only nodes of the graph itself have breakpoints, not those of subgraphs. */
export interface Pauses {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** Breakpoints of a graph without any. */
export const noPauses: Pauses = { before: [], after: [] }

/** Breakpoints of a node, in words; empty if it has none. */
export function pauseWords({ before, after }: Pauses, node: string): string {
  const places = [...before.includes(node) ? ['before'] : [],
    ...after.includes(node) ? ['after'] : []]
  return places.length === 0 ? '' : `pauses ${places.join(' and ')}`
}
