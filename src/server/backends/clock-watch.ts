/**
 * Compares the clock of this machine with Cassandra's. Ownership depends on no clock. The times in
 * records, certificates, and how long a durable limit counts depend on one.
 */

import type { Log } from '../../../cluster/index.ts'
import { clocksApartMs } from '../../limits/index.ts'
import type { CassandraStore } from '../../store/cassandra/index.ts'

/**
 * Time between comparisons. Clocks drift slowly, but that of a machine that slept is off at once.
 */
export const clockLookMs = 60_000
/** If two clocks are each off by less, they are close enough to each other for durable limits. */
const clockOffMs = clocksApartMs / 2

/**
 * Returns a function that compares the clocks and logs a change. It throws if Cassandra cannot be
 * reached.
 */
export function clockWatch(store: Pick<CassandraStore, 'clockAheadMs'>,
  log: Log): () => Promise<void> {
  let off = false
  return async () => {
    const aheadMs = await store.clockAheadMs()
    const wasOff = off
    off = Math.abs(aheadMs) >= clockOffMs
    if (off && !wasOff) {
      log.warn("The clock of this machine differs from Cassandra's: set it, or the times of " +
        'what is written here are wrong.', { secondsAhead: Math.round(aheadMs / 1_000) })
    } else if (wasOff && !off) {
      log.info("The clock of this machine agrees with Cassandra's again.")
    }
  }
}
