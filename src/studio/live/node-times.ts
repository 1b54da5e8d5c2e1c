/** States of nodes at a step that is over: its writers are done, those it waits for are next. */

import type { StateTask, ThreadState } from '../api/states.ts'
import type { NodeState, NodeStates } from './node-state.ts'

const at = (state: NodeState['state'], times: number, tookMs: number | null = null): NodeState => ({
  state,
  times,
  startedMs: tookMs === null ? null : 0,
  endedMs: tookMs,
})

/** States of nodes at a step. `parent` is the step before it, whose tasks made it. */
export function nodesAt(step: ThreadState | undefined,
  parent: ThreadState | undefined): NodeStates {
  const nodes: Record<string, NodeState> = {}
  for (const { name } of step?.metadata?.source === 'loop' ? parent?.tasks ?? [] : []) {
    nodes[name] = at('done', (nodes[name]?.times ?? 0) + 1)
  }
  for (const task of step?.tasks ?? []) nodes[task.name] = at(stateOf(task), 1)
  return nodes
}

function stateOf({ error, interrupts = [] }: StateTask): NodeState['state'] {
  if (error != null) return 'failed'
  return interrupts.length > 0 ? 'waiting' : 'next'
}
