/** The commands that an actor has done recently, and that a caller may still repeat. */

import type { AppliedCommand } from '../../proto/gen/storage/v1/row.ts'
import type { RecordOf } from '../checkpoint/index.ts'
import { HeddleError } from '../errors.ts'

/** Commands that are remembered however long ago they were done. */
const keptAlways = 32
/**
 * Commands that are remembered at most: of one actor, as many answers may be lost at once. Each
 * write of a row has the list, so it is short. It is longer than the 100 runs that may wait on a
 * thread.
 */
const keptLately = 128
/** Milliseconds for which callers repeat a command, and some more for clocks that differ. */
const repeatedMs = 60_000

/** The record that marks a command as done, in the row with its effect; none without an id. */
export function appliedRecords(commandId: string | undefined, atMs: number): RecordOf[] {
  return commandId === undefined ? [] : [{ $case: 'commandApplied', value: { commandId, atMs } }]
}

/** The list with one more command, without those that no caller repeats any more. */
export function withApplied(applied: readonly AppliedCommand[],
  command: AppliedCommand): AppliedCommand[] {
  const all = [...applied, command]
  const sinceMs = (command.atMs ?? 0) - repeatedMs
  const firstLate = all.findIndex(({ atMs = 0 }) => atMs > sinceMs)
  const first = firstLate === -1 ? all.length : firstLate
  return all.slice(Math.max(all.length - keptLately, Math.min(first, all.length - keptAlways), 0))
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
