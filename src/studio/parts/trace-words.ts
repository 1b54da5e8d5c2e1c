/** Words for the numbers of traces: shares, latencies, costs, states. Pure. */

import type { SpanStatus } from '../api/platform/traces.ts'
import { duration } from './amounts.ts'
import type { Status } from './status.tsx'

/** The status of a span. */
export const spanStatus = (status: SpanStatus): Status =>
  status === 'ERROR' ? 'failed' : status === 'PENDING' ? 'running' : 'done'

/** "11 %", "0.4 %"; a dash for what is not known. */
export function share(value: number | null | undefined): string {
  if (value === null || value === undefined) return '–'
  const percent = value * 100
  return `${percent > 0 && percent < 10 ? Number(percent.toFixed(1)) : Math.round(percent)} %`
}

/** "718 ms" of seconds; a dash for what is not known. */
export const latency = (seconds: number | null | undefined): string =>
  seconds === null || seconds === undefined ? '–' : duration(seconds * 1_000)

/** "$1.25", "$0.0004"; a dash for what is not known. */
export function dollars(cost: string | number | null | undefined): string {
  if (cost === null || cost === undefined) return '–'
  const value = Number(cost)
  return `$${value === 0 || value >= 1 ? value.toFixed(2) : String(Number(value.toPrecision(2)))}`
}

/** A time of the API as one that browsers read: some are without their zone, which is UTC. */
export const zoned = (iso: string): string => /[zZ]$|[+-]\d\d:?\d\d$/.test(iso) ? iso : `${iso}Z`

/** "0.9", "1": a score as it is shown. */
export const score = (value: number | boolean | null): string =>
  value === null ? '–' : String(Number(Number(value).toFixed(2)))
