/** The commands that an actor has done recently, and that a caller may still repeat. */

import type { HeardCommand } from '../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../errors.ts'

/**
 * Callers repeat a command for seconds only, so this bounds the commands of one actor whose answers
 * are lost at the same time. (Commands that have an id of their own are recognised by that.)
 */
const heardMax = 32

/** The list with one more command, whose effect is in row `seq` of the log. */
export function withHeard(heard: readonly HeardCommand[], id: string, seq: number):
  HeardCommand[] {
  return [...heard, { id, seq }].slice(-heardMax)
}

/** Undefined if it was not done, or has no id. */
export function heardAs(heard: readonly HeardCommand[], id: string | undefined):
  HeardCommand | undefined {
  return id === undefined ? undefined : heard.find((command) => command.id === id)
}

/**
 * For the `catch` of a deletion: `not_found` is fine if an earlier try of the same command may have
 * deleted it. Throws any other error again.
 */
export function unlessGoneByThis(error: unknown): void {
  const { code, facts } = HeddleError.from(error)
  if (code !== 'not_found' || facts['again'] !== true) throw error
}
