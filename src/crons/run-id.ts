/**
 * The id of the run of a due time. A firing that is repeated finds the run that it made before.
 *
 * Rule: [due_run_id].
 */

import { v5 } from 'uuid'

/** UUID namespaces of the ids of runs, and of crons that are made with a key. */
const keyNamespace = '5b6c3c0f-0d55-4b0e-8f43-6a0d2a5c9e11'
const namespace = '8d4f3a52-6f0e-4b0c-9a64-2f6f1f0f6b7e'

/** The id of the one run that a cron has at a due time. It is the id of the run's thread too. */
export function runIdOf(tenant: string, cronId: string, dueMs: number): string {
  return v5(`${tenant}\n${cronId}\n${dueMs}`, namespace)
}

/** The id of the cron that a tenant makes with an Idempotency-Key. */
export function cronIdOf(tenant: string, key: string): string {
  return v5(`${tenant}\n${key}`, keyNamespace)
}
