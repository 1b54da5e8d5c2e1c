/** Names of the events that an execution makes for its thread as a whole, beside its run's own. */

import { isOneOf } from '../../json/index.ts'

/** Run streams never show names that begin so: stream modes have no colon. */
const prefix = 'thread:'

/** Stands for two events: the checkpoint that it names, and the values there. */
export const checkpointMark = `${prefix}checkpoint`

/** The methods of protocol v2 that executions make events of. */
export type ExecutionMethod = typeof executionMethods[number]

const executionMethods = ['lifecycle', 'values', 'checkpoints', 'messages', 'tools', 'updates',
  'tasks', 'custom'] as const

/** True for a method of protocol v2 that executions make events of. */
export function isExecutionMethod(method: string): method is ExecutionMethod {
  return isOneOf(executionMethods, method)
}

/** Parts of the name of an event of the thread. */
export interface ThreadNameParts {
  readonly method: ExecutionMethod
  /** Empty for none. */
  readonly node: string
  readonly namespace: readonly string[]
}

/** True for an event of the thread, false for one of the run alone. */
export function isThreadEvent(name: string): boolean {
  return name.startsWith(prefix)
}

/** Name of an event of the thread: `thread:<method>|<node>|<namespace…>`. */
export function threadName({ method, node, namespace }: ThreadNameParts): string {
  return [`${prefix}${method}`, node, ...namespace].join('|')
}
