/** A keyspace of its own for a store or a server under test. */

import { randomUUID } from 'node:crypto'

import { Client } from 'cassandra-driver'

import type { CassandraForTests } from './cassandra.ts'

/** Where a server or a store finds its data. */
export interface CassandraKeyspace extends CassandraForTests {
  readonly keyspace: string
}

/** A new name; the first user creates the keyspace. */
export function newKeyspace(cassandra: CassandraForTests): CassandraKeyspace {
  return { ...cassandra, keyspace: `test_${randomUUID().replaceAll('-', '').slice(0, 12)}` }
}

/** Drops the keyspace with everything in it. */
export async function dropKeyspace(
  { contactPoints, dataCenter, keyspace }: CassandraKeyspace): Promise<void> {
  const client = new Client({
    contactPoints: [...contactPoints], localDataCenter: dataCenter,
    socketOptions: { readTimeout: 60_000 },
  })
  for (const name of [keyspace, `${keyspace}_control`]) {
    await client.execute(`DROP KEYSPACE IF EXISTS ${name}`)
  }
  await client.shutdown()
}
