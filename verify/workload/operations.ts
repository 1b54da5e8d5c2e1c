/** All operations of the workload, and the choice among them. */

import type { Chance } from '../../test/simulation/chance.ts'
import { agentOperations } from './agent-operations.ts'
import { assistantOperations } from './assistant-operations.ts'
import { cronOperations } from './cron-operations.ts'
import { deployOperations } from './deploy-operations.ts'
import { documentOperations } from './document-operations.ts'
import { foreignRequest } from './foreign-requests.ts'
import { itemOperations } from './item-operations.ts'
import { mortalOperations } from './mortal-operations.ts'
import type { Operation } from './operation.ts'
import { replayOperations } from './replay-operations.ts'
import { runOperations } from './run-operations.ts'
import { protocolOperations } from './protocol-operations.ts'
import type { Session } from './session.ts'
import { threadOperations } from './thread-operations.ts'
import { toolOperations } from './tool-operations.ts'
import { traceOperations } from './trace-operations.ts'
import { wrongRequest } from './wrong-requests.ts'

const operations: readonly Operation[] = [...runOperations, ...threadOperations, ...itemOperations,
  ...traceOperations, ...assistantOperations, ...cronOperations, ...mortalOperations,
  ...documentOperations, ...deployOperations, ...protocolOperations, ...agentOperations,
  ...toolOperations, ...replayOperations, foreignRequest, wrongRequest]
/** The operations that the target of a session offers. */
export function offeredOperations(session: Session): readonly Operation[] {
  return operations.filter(({ name }) => session.offers(name))
}

/** Draws an operation by its weight, and by how much more often it is drawn now. Default: once. */
export function drawOperation(offered: readonly Operation[], chance: Chance,
  weigh: (name: string) => number = () => 1): Operation {
  const weighted = offered.map((operation) => (
    { operation, weight: operation.weight * weigh(operation.name) }
  ))
  let left = chance.number() * weighted.reduce((sum, { weight }) => sum + weight, 0)
  const drawn = weighted.find(({ weight }) => (left -= weight) < 0) ?? weighted[0]!
  return drawn.operation
}
