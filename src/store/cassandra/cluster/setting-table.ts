/** Settings that were fixed when the cluster was created. They never change. */

import { defaultShards } from '../../../../cluster/index.ts'
import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { Connection } from '../driver/connection.ts'

/** The settings of a cluster, the same for all its members. */
export interface ClusterSettings {
  /** Number of shares of all keys. Each share has one owner. */
  readonly shards: number
  /** Number of partitions in which the rows of a shard lie. */
  readonly buckets: number
  /**
   * Secret by which members trust each other if they were given no other one. Who can read it may
   * join.
   */
  readonly secret: string
}

const defaults = { shards: defaultShards, buckets: 4 } as const

/** Reads the settings. The first member fixes what is missing. */
export async function readSettings(connection: Connection,
  env: Pick<Env, 'uuid'>): Promise<ClusterSettings> {
  const [shards, buckets, secret] = await Promise.all([
    readSetting(connection, 'shards', String(defaults.shards)),
    readSetting(connection, 'buckets', String(defaults.buckets)),
    readSetting(connection, 'secret', `${env.uuid()}/${env.uuid()}`),
  ])
  return { shards: Number(shards), buckets: Number(buckets), secret }
}

/** Number of shards of a cluster that was made already. */
export async function shardsOf(connection: Connection): Promise<number> {
  return Number(await findSetting(connection, 'shards') ?? defaults.shards)
}

/** The region that the keyspace belongs to; undefined while none was named. */
export function regionOf(connection: Connection): Promise<string | undefined> {
  return findSetting(connection, 'region')
}

/**
 * Gives the keyspace to the first region that is named, for ever. Throws HeddleError `forbidden` if
 * it belongs to another region, or to any while none is named.
 */
export async function settleRegion(connection: Connection,
  named: string | undefined): Promise<void> {
  const region = named === undefined
    ? await regionOf(connection)
    : await readSetting(connection, 'region', named)
  requireBelong(connection, region, named)
}

/** Throws HeddleError `forbidden` if the named region is not the region of the keyspace. */
export function requireBelong({ keyspace }: Connection, region: string | undefined,
  named: string | undefined): void {
  if (region === named) return
  throw new HeddleError('forbidden', `The keyspace ${keyspace} belongs to the region ` +
    `${region}: name that one with --region, or another keyspace with --keyspace.`)
}

async function findSetting(connection: Connection, name: string): Promise<string | undefined> {
  const cql = `SELECT value FROM ${connection.control}.setting WHERE name = ?`
  const [row] = await connection.read({ cql, values: [name] })
  return row?.['value']
}

async function readSetting(connection: Connection, name: string,
  otherwise: string): Promise<string> {
  const insert = {
    cql: `INSERT INTO ${connection.control}.setting (name, value) VALUES (?, ?) IF NOT EXISTS`,
    values: [name, otherwise],
  }
  for (;;) {
    const found = await findSetting(connection, name)
    if (found !== undefined) return found
    await connection.swapSurely(insert)
  }
}
