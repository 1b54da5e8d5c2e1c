/** Time to live of a thread, and the record of it. Pure. */

import type { TimeToLive } from '../../../proto/gen/storage/v1/time_to_live.ts'

/** The time begins now. Undefined if none is wished. */
export function timeToLiveFrom(options: Omit<TimeToLive, 'expiresAtMs'> | undefined, nowMs: number):
  | TimeToLive
  | undefined {
  return options && { ...options, expiresAtMs: nowMs + Math.ceil(options.minutes * 60_000) }
}
