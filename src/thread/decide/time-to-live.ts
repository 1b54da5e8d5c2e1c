/** How long a thread lives, and the record of it. Pure. */

import type { TimeToLive } from '../../../proto/gen/storage/v1/time_to_live.ts'
import type { TimeToLiveWish } from '../../search/index.ts'

/** The time begins now. Undefined if none is wished. */
export function timeToLiveFrom(wish: TimeToLiveWish | undefined, nowMs: number):
  | TimeToLive
  | undefined {
  return wish && { ...wish, expiresAtMs: nowMs + Math.ceil(wish.minutes * 60_000) }
}
