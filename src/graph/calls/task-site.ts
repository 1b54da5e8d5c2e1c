/** The place in a graph that makes a call, read from the engine's config. Pure. */

import { memberOf, textAt } from '../../json/index.ts'

/** A task of the engine. The same object stands for all calls of one attempt of a task. */
export interface TaskSite {
  /** Number of the superstep, counted by the graph of the task. */
  readonly step: number
  /** Names of the nodes, and of tasks of the functional API, from the root to its own one. */
  readonly nodes: readonly string[]
  /**
   * The task's place among those of its step: `["__pregel_push", 0, …]`. In place of the number, a
   * task that another one has called has the path of that.
   */
  readonly path: readonly unknown[]
  /** Namespace of the checkpoint that the task was made from; empty for the root graph. */
  readonly checkpointNs: string
  /** The checkpoint's id; undefined if the engine does not say. */
  readonly checkpointId: string | undefined
  readonly taskId: string
  /** Number of the attempt in this execution, from 1: a retry policy makes more than one. */
  readonly attempt: number
}

/** A task as a config has it. The configs of what runs inside of a task may lack its attempt. */
export type FoundSite = Omit<TaskSite, 'attempt'> & { readonly attempt: number | undefined }

/** The task whose code a config was made for; undefined outside of tasks. */
export function taskSiteIn(config: unknown): FoundSite | undefined {
  const metadata = memberOf(config, 'metadata')
  const configurable = memberOf(config, 'configurable')
  const taskId = textAt(configurable, '__pregel_task_id')
  const ownNs = textAt(configurable, 'checkpoint_ns') ?? textAt(metadata, 'langgraph_checkpoint_ns')
  const step = memberOf(metadata, 'langgraph_step')
  if (!taskId || ownNs === undefined || typeof step !== 'number') return undefined
  const path = memberOf(metadata, 'langgraph_path')
  const parts = ownNs.split('|')
  const checkpointNs = parts.slice(0, -1 - callersIn(path)).join('|')
  const attempt = memberOf(memberOf(config, 'executionInfo'), 'nodeAttempt')
  return {
    step,
    nodes: parts.flatMap((part) => nodeIn(part)),
    path: Array.isArray(path) ? path : [],
    checkpointNs,
    checkpointId: textAt(memberOf(configurable, 'checkpoint_map'), checkpointNs),
    taskId,
    attempt: typeof attempt === 'number' ? attempt : undefined,
  }
}

/**
 * Number of tasks whose code has called the task of a path, as in the functional API. They are in
 * its namespace, and have its checkpoint.
 */
function callersIn(path: unknown): number {
  return Array.isArray(path) && Array.isArray(path[1]) ? 1 + callersIn(path[1]) : 0
}

/** The node of a part of a namespace. A part that only counts calls of a subgraph has none. */
function nodeIn(part: string): string[] {
  return /^\d+$/.test(part) ? [] : [part.split(':')[0]!]
}
