/** Faults of an object of a langgraph.json that may have known keys only. */

import type { z } from 'zod'

/** Says which key is unknown, and otherwise which form the object must have. */
export function shapeError(form: string) {
  return (issue: z.core.$ZodRawIssue): string =>
    issue.code === 'unrecognized_keys'
      ? `has no key ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
      : form
}
