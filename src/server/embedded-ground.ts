/** The ground of a member alone: everything in its data directory, which nobody else can have. */

import { defaultShards, placedOwnership, soleMember } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { openEmbeddedStore } from '../store/embedded/index.ts'
import type { Ground } from './ground.ts'

/** Throws HeddleError where the directory cannot be used. */
export async function openEmbeddedGround(directory: string, env: Env): Promise<Ground> {
  const store = await openEmbeddedStore({ directory, env })
  const view = soleMember({ id: env.uuid(), address: 'here' })
  const epoch = await store.claimEpoch()
  const ownership = placedOwnership({ view, shards: defaultShards, epoch })
  return {
    ...store, ownership, gate: undefined, place: directory,
    check: async () => void await store.assistants.count({ tenant: '' }),
  }
}
