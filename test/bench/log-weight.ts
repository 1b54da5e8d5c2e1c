/** The size of a server's log, read while the server writes it. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Client, types } from 'cassandra-driver'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'

/** Sums over all log rows: bytes written, not the size of files. */
export interface LogWeight {
  weigh(): Promise<{ readonly rows: number; readonly bytes: number }>
  close(): Promise<void>
}

export function embeddedWeight(dataDir: string): LogWeight {
  const file = readdirSync(dataDir).map((name) => join(dataDir, name)).find(isDatabase)
  if (file === undefined) throw new Error(`no database in ${dataDir}`)
  const database = new DatabaseSync(file, { readOnly: true })
  const sum = database.prepare(
    'SELECT count(*) AS rows, coalesce(sum(length(body)), 0) AS bytes FROM log',
  )
  return {
    weigh: async () => sum.get() as { rows: number; bytes: number },
    close: async () => database.close(),
  }
}

export function cassandraWeight(
  { contactPoints, dataCenter, keyspace }: CassandraKeyspace,
): LogWeight {
  const client = new Client({ contactPoints: [...contactPoints], localDataCenter: dataCenter,
    socketOptions: { readTimeout: 60_000 } })
  const lengths = async (cql: string) => {
    const found: number[] = []
    const options = { prepare: true, fetchSize: 500, consistency: types.consistencies.localQuorum }
    for await (const row of await client.execute(cql, [], options)) {
      // Rows of epoch 0 are places of checkpoints.
      if (row['epoch'] === '0') continue
      found.push((row['body'] as Buffer | null)?.length ?? 0)
    }
    return found
  }
  return {
    weigh: async () => {
      const rows = await lengths(`SELECT cast(epoch AS text) AS epoch, body FROM ${keyspace}.log`)
      const chunks = await lengths(`SELECT data AS body FROM ${keyspace}.log_chunk`)
      return { rows: rows.length, bytes: [...rows, ...chunks].reduce((a, b) => a + b, 0) }
    },
    close: () => client.shutdown(),
  }
}

function isDatabase(file: string): boolean {
  return readFileSync(file).subarray(0, 15).toString() === 'SQLite format 3'
}
