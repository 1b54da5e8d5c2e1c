/** The contents of a keyspace, for tests that check that something is not stored. */

import { Client } from 'cassandra-driver'
import type { CassandraKeyspace } from './cassandra-keyspace.ts'

/** The number of rows in one table of the data keyspace. */
export async function rowsIn({ contactPoints, dataCenter, keyspace }: CassandraKeyspace,
  table: string): Promise<number> {
  const client = new Client({ contactPoints: [...contactPoints], localDataCenter: dataCenter })
  try {
    const { rows } = await client.execute(`SELECT count(*) AS count FROM ${keyspace}.${table}`)
    return Number(rows[0]!['count'])
  } finally {
    await client.shutdown()
  }
}

/** What kinds of documents of deployments are there. */
export async function documentsOf(
  { contactPoints, dataCenter, keyspace }: CassandraKeyspace,
): Promise<readonly string[]> {
  const client = new Client({ contactPoints: [...contactPoints], localDataCenter: dataCenter })
  try {
    const { rows } = await client.execute(`SELECT tenant, kind FROM ${keyspace}.document`)
    return rows.filter(({ tenant }) => tenant === '@').map(({ kind }) => String(kind))
  } finally {
    await client.shutdown()
  }
}

/** All rows of all tables as JSON, with binary values in hex. */
export async function everythingIn(
  { contactPoints, dataCenter, keyspace }: CassandraKeyspace,
): Promise<string> {
  const client = new Client({ contactPoints: [...contactPoints], localDataCenter: dataCenter })
  try {
    let all = ''
    for (const space of [keyspace, `${keyspace}_control`]) {
      const tables = await client.execute(
        `SELECT table_name FROM system_schema.tables WHERE keyspace_name = '${space}'`,
      )
      for (const { table_name: table } of tables.rows) {
        const { rows } = await client.execute(`SELECT JSON * FROM ${space}.${String(table)}`)
        all += rows.map((row) => String(row['[json]'])).join('\n')
      }
    }
    return all
  } finally {
    await client.shutdown()
  }
}

/** The rows of some tables as JSON, in an order that does not change. */
export async function rowsOf({ contactPoints, dataCenter, keyspace }: CassandraKeyspace,
  tables: readonly string[]): Promise<ReadonlyMap<string, readonly string[]>> {
  const client = new Client({ contactPoints: [...contactPoints], localDataCenter: dataCenter })
  try {
    const found = new Map<string, readonly string[]>()
    for (const table of tables) {
      const { rows } = await client.execute(`SELECT JSON * FROM ${keyspace}.${table}`)
      found.set(table, rows.map((row) => String(row['[json]'])).toSorted())
    }
    return found
  } finally {
    await client.shutdown()
  }
}
