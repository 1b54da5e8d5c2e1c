/** The control rows of a cluster, for operators. Opening them changes nothing. */

import type { Heartbeat, SessionPort, ShardPort } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { ConnectionOptions } from '../driver/client-options.ts'
import { Connection } from '../driver/connection.ts'
import { finishedFrom } from '../schema/migration.ts'
import { finishUpgrade, versionOf } from '../schema/schema.ts'
import { HeartbeatTable } from './heartbeat-table.ts'
import { readSettings } from './setting-table.ts'
import { SessionTable } from './session-table.ts'
import { ShardTable } from './shard-table.ts'

/** Sessions that are read at a time. */
const pageRows = 1_000

/** Open control rows, which their owner closes. */
export interface ControlTables {
  /** Number of shards. */
  readonly shards: number
  /** The secret of members that were given no other one. */
  readonly secret: string
  readonly sessions: SessionPort
  readonly shardOwners: ShardPort
  /** The version of the tables that members must support for `finishUpgrade`. */
  readonly finishedFrom: number
  /** Members that have left a heartbeat in the last minutes. */
  members(): Promise<readonly Heartbeat[]>
  /**
   * Refuses earlier versions from now on. Throws HeddleError `unsupported` if no member of this one
   * has prepared the tables.
   */
  finishUpgrade(): Promise<void>
  /** Sessions that have neither left nor been fenced. */
  aliveSessions(): Promise<readonly string[]>
  close(): Promise<void>
}

/** Opens them. Throws HeddleError: `not_found` if there are no tables yet. */
export async function openControlTables(options: ConnectionOptions): Promise<ControlTables> {
  const connection = await Connection.open(options)
  try {
    if (await versionOf(connection) === undefined) {
      throw new HeddleError('not_found',
        `The keyspace ${options.keyspace} has no tables yet: the ` +
          'first server makes them.')
    }
    const { shards, secret } = await readSettings(connection, options.env)
    const heartbeats = new HeartbeatTable(connection)
    return { shards, secret, finishedFrom, sessions: new SessionTable(connection, options.env),
      shardOwners: new ShardTable(connection, shards), members: () => heartbeats.heartbeats(),
      finishUpgrade: () => finishUpgrade(connection), aliveSessions: () => aliveIn(connection),
      close: () => connection.close() }
  } catch (error) {
    await connection.close()
    throw error
  }
}

async function aliveIn(connection: Connection): Promise<readonly string[]> {
  const alive: string[] = []
  const cql = `SELECT session, state FROM ${connection.control}.node_session`
  for await (const rows of connection.pages({ cql, values: [] }, pageRows)) {
    for (const row of rows) if (row['state'] === 'alive') alive.push(String(row['session']))
  }
  return alive
}
