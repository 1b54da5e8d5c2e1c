/** Opens what decides about the calls of a worker's runs. */

import type { OpenGate } from './call-scope.ts'

/** Makes the calls of this thread known to the gates. Costs nothing without one. */
export async function openCalls(gates: readonly OpenGate[]): Promise<readonly OpenGate[]> {
  if (gates.length === 0) return gates
  const [{ AsyncLocalStorageProviderSingleton }, { followTasks }] = await Promise.all([
    import('@langchain/core/singletons'),
    import('./task-scopes.ts'),
  ])
  followTasks(AsyncLocalStorageProviderSingleton)
  return gates
}
