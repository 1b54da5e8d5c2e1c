/** A Cassandra store under test, in the keyspace that files share; its check is always open. */

import { mkdtempSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { systemEnv } from '../../cluster/index.ts'
import { openCassandraStore } from '../../src/store/cassandra/index.ts'
import { sharedKeyspace } from '../support/shared-keyspace.ts'
import type { CassandraForTests } from '../support/cassandra.ts'
import { loadAll, loneIndex } from '../support/lone-index.ts'
import { openCheck } from '../support/open-check.ts'
import type { StorePlace } from './store-place.ts'

export interface CassandraPlaceOptions {
  readonly commit?: 'validate' | 'lwt'
  /** By default the one that files share. Who names another one drops it. */
  readonly keyspace?: string
}

export function cassandraPlace({ contactPoints, dataCenter }: CassandraForTests,
  { commit = 'validate', ...own }: CassandraPlaceOptions = {}
): StorePlace & { readonly keyspace: string } {
  const { keyspace = sharedKeyspace({ contactPoints, dataCenter }).keyspace } = own
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
      const found = loneIndex(store, env)
      const ports = store.serve({ check: openCheck, threads: found.threads })
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
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}
