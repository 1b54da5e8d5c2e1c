/** API keys of two tenants: of the workload, and of one that must see nothing of it. */

import { openKeyMaker } from '../../test/support/keys.ts'
import type { KeyPlace } from '../../test/support/keys.ts'

/** Makes a key of an admin in each tenant. */
export async function makeKeys({ dataDir, cassandra }: KeyPlace) {
  const maker = await openKeyMaker({ dataDir, cassandra })
  try {
    return { own: await maker.make('verify', 'admin'), foreign: await maker.make('other', 'admin') }
  } finally {
    await maker.close()
  }
}
