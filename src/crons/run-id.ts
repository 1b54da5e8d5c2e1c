/**
 * The id of the run of a due time. A firing that is repeated finds the run that it made before.
 *
 * Rule: [due_run_id].
 */

import { v5 } from 'uuid'

/** UUID namespace of these ids. */
const namespace = '8d4f3a52-6f0e-4b0c-9a64-2f6f1f0f6b7e'

/** The id of the one run that a cron has at a due time. It is the id of the run's thread too. */
export function runIdOf(tenant: string, cronId: string, dueMs: number): string {
  return v5(`${tenant}\n${cronId}\n${dueMs}`, namespace)
}
