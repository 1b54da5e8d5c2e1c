/** The graphs of a run as a tree, from the tasks of the newest state. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'

/** Status of one graph of a run, the root or a subgraph. */
export type AgentStatus = 'started' | 'running' | 'completed' | 'failed' | 'interrupted'

/** A graph of a run, and the subgraphs that its tasks run in. */
export interface AgentNode {
  readonly namespace: readonly string[]
  readonly status: AgentStatus
  readonly graph_name: string
  readonly children?: readonly AgentNode[]
}

/** The parts of a ThreadState that the tree is made of. */
export interface TreeState {
  readonly metadata?: { readonly graph_id?: string } | null
  readonly tasks?: readonly TreeTask[]
}

/** The parts of a task that the tree is made of. */
export interface TreeTask {
  readonly name: string
  readonly error?: unknown
  readonly interrupts?: readonly unknown[]
  readonly result?: unknown
  readonly state?: {
    readonly checkpoint?: { readonly checkpoint_ns?: string } | null
    readonly tasks?: readonly TreeTask[]
  } | null
  readonly checkpoint?: { readonly checkpoint_ns?: string } | null
}

const ofRun: Readonly<Record<string, AgentStatus>> = { pending: 'started', running: 'running',
  success: 'completed', error: 'failed', timeout: 'failed', interrupted: 'interrupted' }

/** The status of the root graph of a run. One that waits for an answer has ended well. */
export function rootStatus({ status, interruptsJson }: Pick<RunRow,
  | 'status'
  | 'interruptsJson'>): AgentStatus {
  const waits = Object.keys(JSON.parse(interruptsJson || '{}') as object).length > 0
  return waits ? 'interrupted' : ofRun[status] ?? 'running'
}

/** The tree. Tasks that run no subgraph are left out. */
export function agentTree(
  { graphName, status, tasks }: { readonly graphName: string; readonly status: AgentStatus;
    readonly tasks: readonly TreeTask[] },
): AgentNode {
  return node([], graphName, status, tasks)
}

function node(namespace: readonly string[], graphName: string, status: AgentStatus,
  tasks: readonly TreeTask[]): AgentNode {
  const children = tasks.flatMap((task) => {
    const ns = task.state?.checkpoint?.checkpoint_ns ?? task.checkpoint?.checkpoint_ns
    return ns
      ? [node(ns.split('|'), task.name, taskStatus(task, status), task.state?.tasks ?? [])]
      : []
  })
  return { namespace, status, graph_name: graphName, ...children.length > 0 && { children } }
}

function taskStatus({ error, interrupts = [], result }: TreeTask,
  parent: AgentStatus): AgentStatus {
  if (error != null) return 'failed'
  if (interrupts.length > 0) return 'interrupted'
  if (result != null) return 'completed'
  return parent === 'running' || parent === 'started' ? 'running' : parent
}
