/** The backend of a single member: everything is in its data directory, which it alone can use. */

import { defaultShards, inProcessTransport, placedOwnership,
  soleMember } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { embeddedSpans, openEmbeddedStore, supportedTables } from '../../store/embedded/index.ts'
import { HeldRuns } from '../../thread/index.ts'
import type { Backend } from './backend.ts'
import { loneWithHeld, runsWithHeld } from './held-index.ts'

/**
 * Opens the backend. Throws HeddleError if the directory cannot be used. `endProcess` is called if
 * it no longer can.
 */
export async function openEmbeddedBackend(directory: string, env: Env,
  endProcess: (reason: string) => void,
  traces: { readonly diskBytes: number; readonly tenantBytes: number;
    readonly indexesWords: boolean }): Promise<Backend> {
  const store = await openEmbeddedStore({ directory, env, onLost: endProcess })
  const self = { id: env.uuid(), address: 'here' }
  const view = soleMember(self)
  const epoch = await store.claimEpoch()
  const ownership = placedOwnership({ view, shards: defaultShards, epoch })
  const heldRuns = new HeldRuns()
  const everybody = loneWithHeld(store, heldRuns)
  return {
    ...store,
    tables: supportedTables,
    heldRuns,
    runs: runsWithHeld(store.runs, everybody, env),
    spans: embeddedSpans({ directory, ...traces }),
    everybody,
    ownership,
    ownershipCheck: undefined,
    transport: inProcessTransport(),
    name: undefined,
    place: directory,
    askMember: () => Promise.reject(new HeddleError('unavailable')),
    askDoors: async () => [],
    begin: async ({ wake, wakeAt }) => {
      wakeAt(0)
      const unfinished = store.unfinished().catch((error: unknown) => {
        env.log.error('Unfinished runs cannot be found.', { error })
        return []
      })
      void unfinished.then(wake)
    },
    giveBack: async () => {},
    check: async () => void await store.assistants.count({ tenant: '' }),
    status: () => ({ member: self, view: [self], leaving: [],
      shards: Array.from({ length: defaultShards },
        (_, shard) => ({ shard, epoch, session: self.id, address: self.address })) }),
  }
}
