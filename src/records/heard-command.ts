/** Which commands an actor has done: so few, and so new, that a caller may still try them again. */

import type { HeardCommand } from '../../proto/gen/storage/v1/row.ts'
import { HeddleError } from '../errors.ts'

/**
 * The asker tries again for seconds only, and what has an id of its own is known by that: so this
 * bounds the commands of one actor whose answers are lost at once.
 */
const heardMax = 32

/** With one more, whose effect stands in row `seq` of the log. */
export function withHeard(heard: readonly HeardCommand[], id: string, seq: number):
  HeardCommand[] {
  return [...heard, { id, seq }].slice(-heardMax)
}

/** Undefined where it was not done, or nobody asks. */
export function heardAs(heard: readonly HeardCommand[], id: string | undefined):
  HeardCommand | undefined {
  return id === undefined ? undefined : heard.find((command) => command.id === id)
}

/**
 * Handed to the `catch` of a deletion: an earlier try of this very command may have done it, and
 * left nobody who knows. Throws any other error again.
 */
export function unlessGoneByThis(error: unknown): void {
  const { code, facts } = HeddleError.from(error)
  if (code !== 'not_found' || facts['again'] !== true) throw error
}
