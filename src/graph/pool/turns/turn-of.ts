/** Names for the turn and the lane of an execution. Pure. */

import type { Execution } from '../../execution.ts'
import type { Turn } from './turn-queue.ts'

/** The turn that an execution takes. The callers of an edit and of a cancel wait. */
export function turnOf({ tenant, isAwaited, stops, request }: Execution): Turn {
  const at = tenant.indexOf('@')
  return { tenant: at < 0 ? tenant : tenant.slice(0, at),
    deployment: at < 0 ? '' : tenant.slice(at + 1),
    isAwaited: isAwaited === true || stops === true || request.kind === 'edit' }
}

/** Name of the lane: executions of one lane take turns among themselves. */
export function laneOf({ tenant, isAwaited, request }: Execution): string {
  return isAwaited === true || request.kind === 'edit' ? `${tenant}\n` : tenant
}

/** Names executions that hold a loop about as long as each other. */
export function graphOf({ graphId, request }: Execution): string {
  return `${request.kind} ${graphId}`
}
