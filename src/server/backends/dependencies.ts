/** The things that this member depends on, one by one, as `/ok?check_db=1` lists them. */

import { HeddleError } from '../../errors.ts'
import type { FrontDoorOptions } from '../../frontdoor/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Backend } from './backend.ts'

/**
 * Dependencies of a member; only its store is vital. Known keys work without their table for a
 * while, most limits without their counters, and all but lists and searches of runs without the
 * rows that are written later.
 */
export function dependenciesOf(settings: Pick<Settings, 'auth' | 'cassandra' | 'limits'>,
  { check, keys, projections }: Pick<Backend, 'check' | 'keys' | 'projections'>,
  askCounter: () => Promise<void>): FrontDoorOptions['dependencies'] {
  const findNobody = async () => void await keys.get('nobody')
  const others = [
    { name: 'keys', title: 'The table of keys', used: settings.auth === 'keys', check: findNobody },
    { name: 'limits', title: 'A counter of limits', used: settings.limits, check: askCounter },
    { name: 'rows', title: 'The tables of runs and threads', used: projections !== undefined,
      check: async () => requireWritten(projections) },
  ]
  const title = settings.cassandra === null ? 'The store' : 'Cassandra'
  return [{ name: 'store', title, vital: true, check }, ...others.filter(({ used }) => used)
    .map(({ used: _, ...other }) => ({ ...other, vital: false }))]
}

/** Throws if rows about threads could not be written when they were tried last. */
function requireWritten(projections: Backend['projections']): void {
  const failing = projections?.stats.failing ?? 0
  if (failing === 0) return
  throw new HeddleError('unavailable',
    `Rows about ${failing} threads cannot be written yet; they are tried again.`)
}
