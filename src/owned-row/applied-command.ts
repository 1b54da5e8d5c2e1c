/** The commands that an actor has done recently, and that a caller may still repeat. */

import type { AppliedCommand } from '../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../errors.ts'

/**
 * Commands that are remembered. Callers repeat a command for seconds only, so this bounds the
 * commands of one actor whose answers are lost at the same time. Commands with an id of their own
 * are recognised by that id.
 */
const appliedMax = 32

/** The list with one more command, whose effect is in row `seq` of the log. */
export function withApplied(applied: readonly AppliedCommand[], id: string,
  seq: number): AppliedCommand[] {
  return [...applied, { id, seq }].slice(-appliedMax)
}

/** The command with this id; undefined if it was not done, or has no id. */
export function findApplied(applied: readonly AppliedCommand[], id: string | undefined):
  | AppliedCommand
  | undefined {
  return id === undefined ? undefined : applied.find((command) => command.id === id)
}

/**
 * For the `catch` of a deletion. Ignores `not_found` if an earlier try of the same command may have
 * deleted the subject. Throws any other error again.
 */
export function ignoreDeletedByThis(error: unknown): void {
  const { code, details } = HeddleError.from(error)
  if (code !== 'not_found' || details.again !== true) throw error
}
