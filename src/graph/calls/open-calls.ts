/** Opens what decides about the calls of a worker's runs. */

import { withTimeout } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { messageOf } from '../project/thrown.ts'
import type { OpenGate } from './call-scope.ts'

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

/** Lets calls know their tasks. Call when the project's engine can be loaded. */
export async function followCalls(calls: OpenCalls): Promise<OpenCalls> {
  if (calls.openGates.length === 0) return calls
  try {
    const [{ AsyncLocalStorageProviderSingleton }, { followTasks }] = await Promise.all([
      import('@langchain/core/singletons'),
      import('./task-scopes.ts'),
    ])
    followTasks(AsyncLocalStorageProviderSingleton)
    return calls
  } catch (error) {
    return { openGates: [], fault: `the engine does not fit (${messageOf(error)})` }
  }
}
