/** The graphs that a request may name. The error for any other name lists them. */

import { HeddleError } from '../../errors.ts'
import type { GraphHost } from '../../graph/index.ts'

/** Ids of all graphs, for an error message. */
export function graphIds(graphs: GraphHost): string {
  return graphs.graphs().map(({ graphId }) => graphId).join(', ') || 'none'
}

/** Throws `not_found` if there is no such graph. */
export function requireGraph(graphs: GraphHost, graphId: string): void {
  if (graphs.describe(graphId) !== undefined) return
  throw new HeddleError('not_found', `Graph "${graphId}" not found. There is: ` +
    `${graphIds(graphs)}.`)
}
