/** Breakpoints: nodes before or after which the next run pauses. */

/** Names of nodes. Only nodes of the graph itself have breakpoints, not those of subgraphs. */
export interface Pauses {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

/** No breakpoints. */
export const noPauses: Pauses = { before: [], after: [] }

/** Where a node pauses, in words; empty if it does not. */
export function pauseWords({ before, after }: Pauses, node: string): string {
  const places = [...before.includes(node) ? ['before'] : [],
    ...after.includes(node) ? ['after'] : []]
  return places.length === 0 ? '' : `pauses ${places.join(' and ')}`
}
