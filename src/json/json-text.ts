/** Parses short JSON from clients, in every protocol, unless it is nested too deep. */

import { parsed } from './parsed.ts'
import { requireShallow } from './scan.ts'

/**
 * The value. `what` names the text in errors. Throws `malformed` if it is not JSON, `invalid` if it
 * is too deep.
 */
export function jsonOf(what: string, text: string): unknown {
  requireShallow(what, text)
  return parsed(what, text)
}
