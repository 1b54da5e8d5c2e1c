/** CQL that tests send to Cassandra directly, without the server. */

import { Client } from 'cassandra-driver'
import type { ClientOptions, types } from 'cassandra-driver'
import type { CassandraForTests } from '../../support/cassandra.ts'

export interface CqlOptions extends CassandraForTests {
  readonly credentials?: ClientOptions['credentials']
}

/** Runs the statements in sequence; resolves with the rows of the last one. */
export async function cql({ contactPoints, dataCenter, credentials }: CqlOptions,
  ...statements: readonly string[]): Promise<types.Row[]> {
  const client = new Client({
    contactPoints: [...contactPoints],
    localDataCenter: dataCenter,
    socketOptions: { readTimeout: 60_000 },
    ...credentials && { credentials },
  })
  try {
    let rows: types.Row[] = []
    for (const statement of statements) rows = (await client.execute(statement)).rows ?? []
    return rows
  } finally {
    await client.shutdown()
  }
}

/** A statement that makes a keyspace with one replica. */
export function createKeyspace(name: string, { dataCenter }: CassandraForTests): string {
  return `CREATE KEYSPACE IF NOT EXISTS ${name} WITH replication = ` +
    `{'class': 'NetworkTopologyStrategy', '${dataCenter}': 1}`
}
