/** The two chosen traces that are compared. Pure. */

import type { TraceRow } from '../../api/platform/traces.ts'
import type { Choice } from '../../rows/choice.ts'

/** Ids of two chosen traces by their start; undefined for another number. */
export function pairOf(choice: Choice | undefined,
  rows: readonly Pick<TraceRow, 'id' | 'trace_id' | 'start_time'>[] | undefined
):
  | readonly [string, string]
  | undefined {
  if (choice === undefined || choice === 'all' || choice.size !== 2) return undefined
  const chosen = rows?.filter(({ id }) => choice.has(id)) ?? []
  const [one, other] = chosen.toSorted((a, b) =>
    Date.parse(a.start_time ?? '') - Date.parse(b.start_time ?? '')
  )
  return one && other && [one.trace_id, other.trace_id]
}
