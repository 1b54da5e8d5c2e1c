/** The part of a body that a handler sees. */

import { isLongJson } from '../schema/long-json.ts'
import type { AskedValue } from './ask.ts'

/** Characters that a member may have as JSON, for a handler to see it. */
const shownMax = 64 * 1024

/** The members that are there. Long ones are left out: they are not parsed here. */
export function shownBody(body: object): AskedValue {
  return Object.fromEntries(Object.entries(body)
    .filter(([, value]) => value !== undefined && !isLongJson(value, shownMax)))
}
