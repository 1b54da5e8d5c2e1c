/** All operations of the workload, and the choice among them. */

import type { Chance } from '../../test/simulation/chance.ts'
import { itemOperations } from './item-operations.ts'
import type { Operation } from './operation.ts'
import { runOperations } from './run-operations.ts'
import { threadOperations } from './thread-operations.ts'
import { traceOperations } from './trace-operations.ts'
import { wrongRequest } from './wrong-requests.ts'

const operations: readonly Operation[] = [...runOperations, ...threadOperations, ...itemOperations,
  ...traceOperations, wrongRequest]
const totalWeight = operations.reduce((sum, { weight }) => sum + weight, 0)

/** Draws an operation by its weight. */
export function drawOperation(chance: Chance): Operation {
  let left = chance.number() * totalWeight
  return operations.find(({ weight }) => (left -= weight) < 0) ?? operations[0]!
}
