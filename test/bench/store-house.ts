/**
 * The store as in a member, but in this process: its ports behind the ownership check of a real
 * session.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSession, systemEnv } from '../../cluster/index.ts'
import type { OwnIndex } from '../../src/search/index.ts'
import { openCassandraStore } from '../../src/store/cassandra/index.ts'
import type { CassandraStore, ServedStore } from '../../src/store/cassandra/index.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { loneIndex } from '../support/lone-index.ts'

export interface StoreHouse extends ServedStore {
  readonly session: string
  /** Reads the rows of all shards into the local index. */
  loadIndex(): Promise<void>
  /** The local index. */
  readonly index: OwnIndex
  close(): Promise<void>
}

export async function openStoreHouse(
  { contactPoints, dataCenter, keyspace }: CassandraKeyspace,
): Promise<StoreHouse> {
  const env = systemEnv({ level: 'silent' })
  const directory = await mkdtemp(join(tmpdir(), 'heddle-bench-'))
  const store = await openCassandraStore({
    env,
    contactPoints,
    localDataCenter: dataCenter,
    keyspace,
    commit: 'validate',
    directory,
    onIndexLost: (reason) => {
      throw new Error(reason)
    },
  })
  const id = env.uuid()
  const session = await openSession({
    env,
    self: { id, address: 'here' },
    sessions: store.sessions,
    onFenced: (reason) => {
      throw new Error(reason)
    },
  })
  return {
    ...store.serve({ check: session.check, threads: loneIndex(store, env).threads }),
    session: id,
    index: store.index,
    loadIndex: async () => {
      await Promise.all(allShards(store).map((shard) => store.index.load(shard)))
    },
    close: async () => {
      await store.quiet()
      await session.leave()
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
}

function allShards({ shards }: CassandraStore): number[] {
  return Array.from({ length: shards }, (_, shard) => shard)
}
