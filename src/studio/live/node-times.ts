/**
 * States of nodes at a step that is over: its writers are done, those it waits for are next. Their
 * times are those of the steps, as the time line and the trace of the run show them.
 */

import type { StateTask, ThreadState } from '../api/states.ts'
import type { NodeState, NodeStates } from './node-state.ts'

const unknown = { startedMs: null, endedMs: null }

/** States of nodes at a step. `parent` is the step before it, whose tasks made it. */
export function nodesAt(step: ThreadState | undefined,
  parent: ThreadState | undefined): NodeStates {
  const nodes: Record<string, NodeState> = {}
  for (const { name } of step?.metadata?.source === 'loop' ? parent?.tasks ?? [] : []) {
    nodes[name] = { state: 'done', times: (nodes[name]?.times ?? 0) + 1, ...timesOf(parent, step) }
  }
  for (const task of step?.tasks ?? []) {
    nodes[task.name] = { state: stateOf(task), times: 1, ...unknown }
  }
  return nodes
}

/** The nodes of a run that has ended, with the times of the newest steps that they made. */
export function timedBySteps(nodes: NodeStates, steps: readonly ThreadState[]): NodeStates {
  const known = new Map(steps.map((step) => [step.checkpoint_id, step]))
  const left = new Set(Object.keys(nodes).filter((id) => nodes[id]!.state === 'done'))
  const timed: Record<string, NodeState> = { ...nodes }
  for (const step of steps) {
    if (left.size === 0) break
    if (step.metadata?.source !== 'loop') continue
    const parent = known.get(step.parent_checkpoint_id)
    for (const { name } of parent?.tasks ?? []) {
      if (left.delete(name)) timed[name] = { ...nodes[name]!, ...timesOf(parent, step) }
    }
  }
  return timed
}

/** Milliseconds between two times; null if one is not known. */
export function between(from: string | null | undefined, to: string | null | undefined):
  | number
  | null {
  return from == null || to == null ? null : Math.max(0, Date.parse(to) - Date.parse(from))
}

function timesOf(parent: ThreadState | undefined,
  step: ThreadState | undefined): Pick<NodeState, 'startedMs' | 'endedMs'> {
  const took = between(parent?.created_at, step?.created_at)
  if (took === null) return unknown
  const startedMs = Date.parse(parent!.created_at!)
  return { startedMs, endedMs: startedMs + took }
}

function stateOf({ error, interrupts = [] }: StateTask): NodeState['state'] {
  if (error != null) return 'failed'
  return interrupts.length > 0 ? 'waiting' : 'next'
}
