/** Stores of spans in the shared keyspace, as the two threads of each member open them. */

import { systemEnv } from '../../cluster/index.ts'
import type { SpanStore } from '../../src/platform/index.ts'
import { Connection } from '../../src/store/cassandra/driver/connection.ts'
import { cassandraSpans } from '../../src/store/cassandra/index.ts'
import { openSpanStore } from '../../src/store/cassandra/platform/open.ts'
import { prepareSchema } from '../../src/store/cassandra/schema/schema.ts'
import { sharedKeyspace } from '../support/shared-keyspace.ts'
import type { CassandraForTests } from '../support/cassandra.ts'

/** A keyspace with the tables. */
export interface CassandraSpanPlace {
  readonly keyspace: string
  open(access: 'write' | 'read'): Promise<SpanStore>
  /** Ends all stores. */
  remove(): Promise<void>
}

/** Prepares the keyspace: by default the one that files share. Who names another one drops it. */
export async function cassandraSpanPlace(
  cassandra: CassandraForTests,
  place = sharedKeyspace(cassandra),
): Promise<CassandraSpanPlace> {
  const env = systemEnv({ level: 'silent' })
  const options = { ...place, env, localDataCenter: place.dataCenter }
  const connection = await Connection.open(options)
  await prepareSchema({ connection, env })
  await connection.close()
  const open: SpanStore[] = []
  return {
    keyspace: place.keyspace,
    open: async (access) => {
      // What crosses to a thread is a copy.
      const store = await openSpanStore(structuredClone(cassandraSpans(options).options), access)
      open.push(store)
      return store
    },
    remove: async () => {
      await Promise.all(open.map((store) => store.close()))
    },
  }
}
