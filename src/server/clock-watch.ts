/**
 * Whether the clock of this machine is that of Cassandra. Who owns what depends on no clock; the
 * times in records and certificates do, and how long a durable limit counts.
 */

import type { Log } from '../../cluster/index.ts'
import { clocksApartMs } from '../records/index.ts'
import type { CassandraStore } from '../store/cassandra/index.ts'

/** A clock that nobody sets drifts slowly; that of a machine that slept is off at once. */
export const clockLookMs = 60_000
/** Two clocks that are each off by less are as near to each other as limits that are kept need. */
const clockOffMs = clocksApartMs / 2

/** A look at the clock, which tells the log of a change. It throws where Cassandra is away. */
export function clockWatch(store: Pick<CassandraStore, 'clockAheadMs'>, log: Log):
() => Promise<void> {
  let off = false
  return async () => {
    const aheadMs = await store.clockAheadMs()
    const wasOff = off
    off = Math.abs(aheadMs) >= clockOffMs
    if (off && !wasOff) {
      log.warn('The clock of this machine is not that of Cassandra: set it, or the times of what ' +
        'is written here are wrong.', { secondsAhead: Math.round(aheadMs / 1_000) })
    } else if (wasOff && !off) {
      log.info('The clock of this machine is that of Cassandra again.')
    }
  }
}
