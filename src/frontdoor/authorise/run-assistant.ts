/** Asks whether a caller may run an assistant. */

import { IsUuid } from 'typebox/format'

import { HeddleError, ignoreNotFound } from '../../errors.ts'
import { systemAssistantId } from '../../graph/index.ts'
import type { Ask } from './ask.ts'
import type { Asking } from './asking.ts'
import { requireSeen } from './seen.ts'

/** Assistants of tenants, as they are for everybody. */
export interface KnownAssistants {
  graphIds(tenant: string): Promise<readonly string[]>
  get(tenant: string, assistantId: string): Promise<{ readonly metadataJson: string }>
}

/**
 * Asks as for reading it. The own assistant of a graph is nobody's: who may make runs may run it.
 * Throws the refusal of the login, and `not_found` for an assistant that the caller does not see.
 */
export type AdmitAssistant = (caller: Asking, name: string) => Promise<void>

/** Makes the function that asks for assistants of runs. */
export function assistantAdmission(ask: Ask, assistants: KnownAssistants): AdmitAssistant {
  return async (caller, name) => {
    if (caller.login === undefined || !IsUuid(name)) return
    const { tenant } = caller
    const assistantId = name.toLowerCase()
    const graphIds = await assistants.graphIds(tenant)
    if (graphIds.some((graphId) => systemAssistantId(graphId) === assistantId)) return
    const { filter } = await ask(caller, 'assistants:read', { assistant_id: assistantId })
    const row = filter && await assistants.get(tenant, assistantId).catch(ignoreNotFound)
    // For one that is not there, whoever makes the run has the error.
    if (row !== undefined) requireSeen(filter, row, () => assistantNotFound(assistantId))
  }
}

/** The error for an assistant that is not there for its caller. */
export function assistantNotFound(assistantId: string): HeddleError {
  return new HeddleError('not_found', `Assistant with ID ${assistantId} not found.`)
}
