/** The graphs of a run as a tree. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { namespaceAround } from '../../checkpoint/index.ts'
import type { SubgraphStatus } from '../../thread/index.ts'

/** Status of one graph of a run, the root or a subgraph. */
export type AgentStatus = 'started' | 'running' | 'completed' | 'failed' | 'interrupted'

/** A graph of a run, and the subgraphs inside it. */
export interface AgentNode {
  readonly namespace: readonly string[]
  readonly status: AgentStatus
  readonly graph_name: string
  readonly children?: readonly AgentNode[]
}

interface GrowingNode {
  readonly namespace: readonly string[]
  readonly status: AgentStatus
  readonly graph_name: string
  children?: GrowingNode[]
}

const ofRun: Readonly<Record<string, AgentStatus>> = { pending: 'started', running: 'running',
  success: 'completed', error: 'failed', timeout: 'failed', interrupted: 'interrupted' }

/** The status of the root graph of a run. A run that waits for an answer has ended well. */
export function rootStatus({ status, interruptsJson }: Pick<RunRow,
  | 'status'
  | 'interruptsJson'>): AgentStatus {
  // The task of a run that failed is open, too.
  const waits = status === 'success' &&
    Object.keys(JSON.parse(interruptsJson || '{}') as object).length > 0
  return waits ? 'interrupted' : ofRun[status] ?? 'running'
}

/** The tree, in the order in which graphs began. Graphs around a known one are known too. */
export function agentTree(graphName: string, status: AgentStatus,
  graphs: readonly SubgraphStatus[]): AgentNode {
  const root: GrowingNode = { namespace: [], status, graph_name: graphName }
  const statuses = new Map(graphs.map((graph) => [graph.ns, graph.status]))
  const known = new Map([['', root]])
  const grow = (ns: string): GrowingNode => {
    const found = known.get(ns)
    if (found) return found
    const around = grow(namespaceAround(ns))
    const namespace = ns.split('|')
    const node = { namespace, status: statusIn(around, statuses.get(ns)),
      graph_name: namespace.at(-1)!.split(':', 1)[0]! }
    known.set(ns, node)
    const children = around.children ??= []
    children.push(node)
    return node
  }
  for (const { ns } of graphs) grow(ns)
  return root
}

/** A subgraph that has not ended by itself ended with the graph around it. */
function statusIn(around: GrowingNode, status: SubgraphStatus['status'] = 'running'): AgentStatus {
  if (status !== 'running') return status
  return around.status === 'started' ? 'running' : around.status
}
