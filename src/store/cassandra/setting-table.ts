/** What was fixed when the cluster was created, and stays so for its life. */

import { defaultShards } from '../../../cluster/index.ts'
import type { Connection } from './connection.ts'

export interface ClusterSettings {
  /** Shares of all keys, each of which has one owner. */
  readonly shards: number
  /** Partitions in which the rows of a shard lie. */
  readonly buckets: number
}

const defaults: ClusterSettings = { shards: defaultShards, buckets: 4 }

/** Whoever comes first fixes what is missing. */
export async function readSettings(connection: Connection): Promise<ClusterSettings> {
  const [shards, buckets] = await Promise.all([
    readSetting(connection, 'shards', defaults.shards),
    readSetting(connection, 'buckets', defaults.buckets),
  ])
  return { shards, buckets }
}

async function readSetting(connection: Connection, name: string, otherwise: number):
  Promise<number> {
  const table = `${connection.control}.setting`
  const select = { cql: `SELECT value FROM ${table} WHERE name = ?`, values: [name] }
  const insert = {
    cql: `INSERT INTO ${table} (name, value) VALUES (?, ?) IF NOT EXISTS`,
    values: [name, String(otherwise)],
  }
  for (;;) {
    const [row] = await connection.read(select)
    if (row) return Number(row['value'])
    await connection.swapSurely(insert)
  }
}
