/** The lines that an address asks for. Pure. */

import type { DeploymentSearch } from '../../addresses/deployments.ts'
import type { LogRequest } from '../../api/control/control.ts'

/** Conditions that lines must meet. */
export type LogConditions = Omit<LogRequest, 'limit'>

const minuteMs = 60_000
const spansMs = { '15m': 15 * minuteMs, '1h': 60 * minuteMs, '24h': 1_440 * minuteMs } as const

/** The request of an address at a time. A range that ends before it begins has its ends changed. */
export function requestOf({ level, revision, q, span, from, to }: DeploymentSearch,
  nowMs: number): LogConditions {
  const [since, until] = span === undefined
    ? []
    : span !== 'range'
    ? [new Date(nowMs - spansMs[span]).toISOString()]
    : from !== undefined && to !== undefined && from > to
    ? [to, from]
    : [from, to]
  return {
    ...level !== undefined && { level },
    ...revision !== undefined && { revision },
    // More than that is refused.
    ...q !== undefined && { q: q.slice(0, 200) },
    ...since !== undefined && { since },
    ...until !== undefined && { until },
  }
}
