/** The things that this member depends on, one by one, as `/ok?check_db=1` lists them. */

import type { FrontDoorOptions } from '../../frontdoor/index.ts'
import type { Settings } from '../../settings/index.ts'
import type { Backend } from './backend.ts'

/**
 * Dependencies of a member; only its store is vital. Known keys work without their table for a
 * while, and most limits without their counters.
 */
export function dependenciesOf(settings: Pick<Settings, 'auth' | 'cassandra' | 'limits'>,
  { check, keys }: Pick<Backend, 'check' | 'keys'>,
  askCounter: () => Promise<void>): FrontDoorOptions['dependencies'] {
  const findNobody = async () => void await keys.get('nobody')
  const others = [
    { name: 'keys', title: 'The table of keys', used: settings.auth === 'keys', check: findNobody },
    { name: 'limits', title: 'A counter of limits', used: settings.limits, check: askCounter },
  ]
  const title = settings.cassandra === null ? 'The store' : 'Cassandra'
  return [{ name: 'store', title, vital: true, check }, ...others.filter(({ used }) => used)
    .map(({ used: _, ...other }) => ({ ...other, vital: false }))]
}
