/** A keyspace of its own for a Cassandra store under test; its ownership check is always open. */

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemEnv } from '../../cluster/index.ts'
import { openCassandraStore } from '../../src/store/cassandra/index.ts'
import { dropKeyspace } from '../support/cassandra-keyspace.ts'
import type { CassandraForTests } from '../support/cassandra.ts'
import { loadAll, loneIndex } from '../support/lone-index.ts'
import { openCheck } from '../support/open-check.ts'
import type { StorePlace } from './store-place.ts'

let places = 0

export interface CassandraPlaceOptions {
  readonly commit?: 'validate' | 'lwt'
}

export function cassandraPlace({ contactPoints, dataCenter }: CassandraForTests,
  { commit = 'validate' }: CassandraPlaceOptions = {}): StorePlace & { readonly keyspace: string } {
  const keyspace = `heddle_test_${process.pid}_${Date.now() % 1_000_000}_${++places}`
  const directory = mkdtempSync(join(tmpdir(), 'heddle-cassandra-'))
  const env = systemEnv({ level: 'silent' })
  let epoch = 10
  return {
    keyspace,
    open: async () => {
      const store = await openCassandraStore({
        env,
        contactPoints,
        localDataCenter: dataCenter,
        keyspace,
        commit,
        directory,
        onIndexLost: (reason) => {
          throw new Error(reason)
        },
      })
      const ports = store.serve({ check: openCheck })
      const found = loneIndex(store, env)
      const unfinished = await loadAll(store)
      const claimed = ++epoch
      return {
        ...ports,
        keys: store.keys,
        billing: store.billing,
        use: found.use,
        due: store.index.due,
        dueCrons: store.index.dueCrons,
        threads: { ...ports.threads, ...found.threads },
        assistants: { ...ports.assistants, ...found.assistants },
        crons: { ...ports.crons, ...found.crons },
        items: { ...ports.items, ...found.items },
        unfinished: async () => unfinished,
        claimEpoch: async () => claimed,
        close: () => store.close(),
      }
    },
    remove: async () => {
      await rm(directory, { recursive: true, force: true })
      await dropKeyspace({ contactPoints, dataCenter, keyspace })
    },
  }
}
