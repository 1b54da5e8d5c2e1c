/**
 * The clock that decides when threads are deleted for good. A clock that jumps ahead must not
 * delete what has not ended yet.
 *
 * It shows the time of day, but never more than the time at which it was made, the time that has
 * passed since by the monotonic clock, and `clocksApartMs`, by which clocks of members may differ.
 * So a thread is deleted at most that much too early, unless the clock was wrong when the process
 * started. A clock that is right again, or a machine that slept, makes it late until the next
 * start.
 */

import type { Env } from '../../../cluster/index.ts'
import { clocksApartMs } from '../../limits/index.ts'

/** Milliseconds since 1970. One for each process. */
export type CautiousClock = () => number

/** Starts the clock of a process, which takes the time of this moment for right. */
export function cautiousClock(env: Pick<Env, 'nowMs' | 'monotonicMs'>): CautiousClock {
  const mostAheadMs = env.nowMs() - env.monotonicMs() + clocksApartMs
  return () => Math.min(env.nowMs(), mostAheadMs + env.monotonicMs())
}
