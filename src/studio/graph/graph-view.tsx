/** The picture of a graph, with what each node does. */

import type { NodeStates } from '../live/node-state.ts'

/** The graph of an assistant. */
export interface GraphViewProps {
  readonly assistantId: string
  readonly nodes: NodeStates
  /** The chosen node, by its id in the picture. */
  readonly chosen?: string | undefined
  readonly choose: (node: string | undefined) => void
}

/** The picture. */
export function GraphView({ assistantId }: GraphViewProps) {
  return <p>{assistantId}</p>
}
