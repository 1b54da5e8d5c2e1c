/** What was fixed when the cluster was created, and stays so for its life. */

import { defaultShards } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { Connection } from './connection.ts'

export interface ClusterSettings {
  /** Shares of all keys, each of which has one owner. */
  readonly shards: number
  /** Partitions in which the rows of a shard lie. */
  readonly buckets: number
  /** By which members know each other that were given no other one: who may read it is trusted. */
  readonly secret: string
}

const defaults = { shards: defaultShards, buckets: 4 } as const

/** Whoever comes first fixes what is missing. */
export async function readSettings(connection: Connection, env: Pick<Env, 'uuid'>):
Promise<ClusterSettings> {
  const [shards, buckets, secret] = await Promise.all([
    readSetting(connection, 'shards', String(defaults.shards)),
    readSetting(connection, 'buckets', String(defaults.buckets)),
    readSetting(connection, 'secret', `${env.uuid()}/${env.uuid()}`),
  ])
  return { shards: Number(shards), buckets: Number(buckets), secret }
}

async function readSetting(connection: Connection, name: string, otherwise: string):
  Promise<string> {
  const table = `${connection.control}.setting`
  const select = { cql: `SELECT value FROM ${table} WHERE name = ?`, values: [name] }
  const insert = {
    cql: `INSERT INTO ${table} (name, value) VALUES (?, ?) IF NOT EXISTS`,
    values: [name, otherwise],
  }
  for (;;) {
    const [row] = await connection.read(select)
    if (row) return row['value'] as string
    await connection.swapSurely(insert)
  }
}
