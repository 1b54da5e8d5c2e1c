/** The index of a single member that owns every shard of its store. */

import type { Env } from '../../cluster/index.ts'
import { scatteredIndex } from '../../src/search/index.ts'
import type { ScatteredIndex, UnfinishedThread } from '../../src/search/index.ts'
import type { CassandraStore } from '../../src/store/cassandra/index.ts'

/** Searches of a store whose shards all belong to one member. */
export function loneIndex({ index, shards }: CassandraStore, env: Env): ScatteredIndex {
  const self = { id: 'self', address: 'here' }
  return scatteredIndex({
    env,
    own: index,
    ask: () => Promise.reject(new Error('there is no other member')),
    owners: { shards, self, ownerOf: () => ({ member: self, epoch: 1 }),
      changed: () => new Promise(() => {}) },
  })
}

/** Loads every shard. Returns the unfinished threads in them. */
export async function loadAll({ index, shards }: CassandraStore): Promise<UnfinishedThread[]> {
  const loads = Array.from({ length: shards }, (_, shard) => index.load(shard))
  return (await Promise.all(loads)).flat()
}
