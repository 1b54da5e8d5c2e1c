/**
 * The clock by which data is deleted for good at the end of its time. A clock of the machine that
 * jumps ahead must not delete data early.
 *
 * It shows the time of day, but never more than the time at which it was made, the time that has
 * passed since by the monotonic clock, and `clocksApartMs`, by which clocks of members may differ.
 * So data is deleted at most that much too early, unless the clock was wrong when the process
 * started. If the machine slept or its clock was corrected, data is deleted late until the next
 * start. Rule: [cautious_clock].
 */

import type { Env } from '../../cluster/index.ts'
import { clocksApartMs } from './limit-actor.ts'

/** Whole milliseconds since 1970. One for each process. */
export type CautiousClock = () => number

/** Starts the clock of a process, which takes the time of this moment for right. */
export function cautiousClock(env: Pick<Env, 'nowMs' | 'monotonicMs'>): CautiousClock {
  const mostAheadMs = env.nowMs() - env.monotonicMs() + clocksApartMs
  return () => Math.min(env.nowMs(), Math.floor(mostAheadMs + env.monotonicMs()))
}
