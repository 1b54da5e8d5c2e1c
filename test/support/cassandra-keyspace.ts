/** A keyspace of its own for a store or a server under test. */

import { randomUUID } from 'node:crypto'

import { Client, errors, types } from 'cassandra-driver'

import type { CassandraForTests } from './cassandra.ts'

/** Where a server or a store finds its data. */
export interface CassandraKeyspace extends CassandraForTests {
  readonly keyspace: string
}

/** A new name; the first user creates the keyspace. */
export function newKeyspace(cassandra: CassandraForTests): CassandraKeyspace {
  return { ...cassandra, keyspace: `test_${randomUUID().replaceAll('-', '').slice(0, 12)}` }
}

/** Drops the keyspace with everything in it, and the one of its members. */
export async function dropKeyspace(
  { contactPoints, dataCenter, keyspace }: CassandraKeyspace,
): Promise<void> {
  const client = new Client({
    contactPoints: [...contactPoints],
    localDataCenter: dataCenter,
    socketOptions: { readTimeout: 60_000 },
  })
  try {
    for (const name of [keyspace, `${keyspace}_control`]) await drop(client, name)
  } finally {
    await client.shutdown()
  }
}

/**
 * Tests drop theirs side by side. Cassandra does not keep changes of the schema apart that come by
 * several nodes, so one may fail on a table that the other has just removed (`Unknown CF`).
 */
async function drop(client: Client, keyspace: string, attempts = 5): Promise<void> {
  try {
    await client.execute(`DROP KEYSPACE IF EXISTS ${keyspace}`)
  } catch (error) {
    const isItsOwn = error instanceof errors.ResponseError &&
      error.code === types.responseErrorCodes.serverError
    if (!isItsOwn || attempts === 1) throw error
    await drop(client, keyspace, attempts - 1)
  }
}
