/** Parses JSON from clients, with an error that names it. */

import { HeddleError } from '../errors.ts'

/** `what` names it. Throws `malformed` if it is no JSON. */
export function parsed(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    const reason = (error as Error).message
    throw new HeddleError('malformed', `${what} is not valid JSON: ${reason}.`)
  }
}
