/** Opens what decides about the calls of a worker's runs. */

import { withTimeout } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { messageOf } from '../project/thrown.ts'
import type { OpenGate } from './call-scope.ts'
import type { NodeBase } from './task-scopes.ts'

/** Time that the start-up check of the doors may take. */
const checkMs = 15_000

/** The gates of a worker's executions. */
export interface OpenCalls {
  readonly openGates: readonly OpenGate[]
  /** Why there are none although there should be: the clients or the engine do not fit. */
  readonly fault?: string
}

/**
 * Opens the doors of this thread. Without a gate nothing is loaded or replaced. Call before a file
 * of the project is loaded. `leavesOut`: URLs of calls that are not the graph's own.
 */
export async function openCalls(env: Pick<Env, 'after'>, openGates: readonly OpenGate[],
  leavesOut: (url: string) => boolean): Promise<OpenCalls> {
  if (openGates.length === 0) return { openGates }
  try {
    const { openDoors } = await import('./doors.ts')
    await withTimeout(env, checkMs, openDoors(leavesOut), () =>
      new Error('the check of the clients takes too long'))
    return { openGates }
  } catch (error) {
    return { openGates: [], fault: messageOf(error) }
  }
}

/** Lets calls know their tasks, by the project's engine. */
export async function followCalls(calls: OpenCalls, engine?: Engine): Promise<OpenCalls> {
  if (calls.openGates.length === 0) return calls
  try {
    const [{ AsyncLocalStorageProviderSingleton }, { followTasks }] = await Promise.all([
      import('@langchain/core/singletons'),
      import('./task-scopes.ts'),
    ])
    followTasks(AsyncLocalStorageProviderSingleton, engine && nodesOf(engine))
    return calls
  } catch (error) {
    return { openGates: [], fault: `the engine does not fit (${messageOf(error)})` }
  }
}

/** The part of the project's engine by which the class of its nodes is found. */
type Engine = Pick<typeof import('@langchain/langgraph'), 'StateGraph' | 'MessagesAnnotation'>

/** The class of nodes, of which the engine exports no name. */
function nodesOf({ StateGraph, MessagesAnnotation }: Engine): NodeBase | undefined {
  const { nodes } = new StateGraph(MessagesAnnotation).addNode('any', () => ({}))
    .addEdge('__start__', 'any').compile()
  const found = Object.getPrototypeOf(nodes.any) as Partial<NodeBase>
  return typeof found.getNode === 'function' ? found as NodeBase : undefined
}
