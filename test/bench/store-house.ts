/** The store as a member has it, in this process: its ports behind the gate of a real session. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lightBeacon, openSession, systemEnv, tcpProbe } from '../../cluster/index.ts'
import { openCassandraStore } from '../../src/store/cassandra/index.ts'
import type { ServedStore } from '../../src/store/cassandra/index.ts'
import type { ScatteredIndex } from '../../src/records/index.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'
import { loadAll, loneIndex } from '../support/lone-index.ts'

export interface StoreHouse extends ServedStore {
  readonly search: ScatteredIndex
  readonly session: string
  /** Reads the rows of all shards into the local index. */
  loadIndex(): Promise<void>
  close(): Promise<void>
}

export async function openStoreHouse(
  { contactPoints, dataCenter, keyspace }: CassandraKeyspace): Promise<StoreHouse> {
  const env = systemEnv({ level: 'silent' })
  const directory = await mkdtemp(join(tmpdir(), 'heddle-bench-'))
  const store = await openCassandraStore({
    env, contactPoints, localDataCenter: dataCenter, keyspace, commit: 'validate', directory,
  })
  const id = env.uuid()
  const beacon = await lightBeacon({ id, host: '127.0.0.1' })
  const session = await openSession({
    env, probe: tcpProbe(env), self: { id, address: beacon.address },
    sessions: store.sessions, shardOwners: store.shardOwners, shards: store.shards,
    onFenced: (reason) => { throw new Error(reason) },
  })
  return {
    ...store.serve({ gate: session.gate }), session: id,
    search: loneIndex(store, env),
    loadIndex: async () => void await loadAll(store),
    close: async () => {
      await store.quiet()
      await session.leave()
      await beacon.close()
      await store.close()
      await rm(directory, { recursive: true })
    },
  }
}
