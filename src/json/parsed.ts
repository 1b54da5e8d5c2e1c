/** Parses JSON from clients, with an error that names it. */

import { HeddleError, messageOf } from '../errors.ts'

/** The value. `what` names the text in errors. Throws `malformed` if it is not JSON. */
export function parsed(what: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new HeddleError('malformed', `${what} is not valid JSON: ${messageOf(error)}.`)
  }
}
