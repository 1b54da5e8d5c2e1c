/** Actors of an operator's command, which works on a store that no server has open. */

import { ActivationTable, actorKeyText, createRouter, defaultShards, inProcessTransport,
  placedOwnership, shardOf, soleMember } from '../../../cluster/index.ts'
import type { ActorKind, Env, Router } from '../../../cluster/index.ts'
import type { EmbeddedStore } from '../../store/embedded/index.ts'
import type { Backend } from '../backends/backend.ts'

/** Owners of shards, and the way to them. */
export type OperatorPlace = Pick<Backend, 'ownership' | 'ownershipCheck' | 'transport'>

/** Everything belongs to this process: it has the data directory. */
export async function placeOfStore(store: Pick<EmbeddedStore, 'claimEpoch'>,
  env: Env): Promise<OperatorPlace> {
  const view = soleMember({ id: env.uuid(), address: 'here' })
  const ownership = placedOwnership({ view, shards: defaultShards,
    epoch: await store.claimEpoch() })
  return { ownership, ownershipCheck: undefined, transport: inProcessTransport() }
}

/** Makes the actors of some kinds, which must be closed. */
export function operatorActors({ ownership, ownershipCheck: check, transport }: OperatorPlace,
  env: Env, kindsOver: (ask: Router['ask']) => ActorKind[]
): {
  readonly activations: ActivationTable
  readonly router: Router
} {
  const kinds = kindsOver((key, command) => router.ask(key, command))
  const activations = new ActivationTable({ env, kinds, ...check && { check },
    owns: (key, epoch) => {
      const owner = ownership.ownerOf(shardOf(actorKeyText(key), ownership.shards))
      return owner?.member === ownership.self && owner.epoch === epoch
    } })
  const router: Router = createRouter({ env, ownership, activations, transport,
    movable: check !== undefined })
  return { activations, router }
}
