/** Reads the state of the keyspaces for an operator, without changing them. */

import type { Env } from '../../../../cluster/index.ts'
import { HeddleError } from '../../../errors.ts'
import type { ConnectionOptions } from '../driver/client-options.ts'
import { Connection } from '../driver/connection.ts'
import { migrations, supportedTables } from '../schema/migration.ts'
import { versionOf } from '../schema/schema.ts'
import { HeartbeatTable } from './heartbeat-table.ts'
import { readRepairs } from './repair-history.ts'
import type { TableRepair } from './repair-history.ts'
import { shardsOf } from './setting-table.ts'
import { ShardTable } from './shard-table.ts'

/** State of the keyspaces, as operator commands show it. */
export interface KeyspaceReading {
  readonly clockAheadMs: number
  /** Nodes of the local data center. */
  readonly nodes: number
  readonly replicas: { readonly data: number; readonly control: number }
  readonly members: readonly { readonly id: string; readonly address: string;
    readonly leaving: boolean }[]
  readonly shards: number
  readonly owned: readonly { readonly shard: number; readonly session: string | null }[]
  /** Repairs of tables with several replicas. Missing if the history of repairs cannot be read. */
  readonly repairs?: readonly TableRepair[]
  readonly schema: { readonly known: number; readonly oldest: number; readonly newest: number }
}

/** Reads everything. Throws HeddleError: `not_found` if there are no tables yet. */
export async function readKeyspaces(
  options: ConnectionOptions & { readonly env: Env },
): Promise<KeyspaceReading> {
  const connection = await Connection.open(options)
  try {
    const version = await versionOf(connection)
    if (version === undefined) {
      throw new HeddleError('not_found',
        `The keyspace ${options.keyspace} has no tables yet: the ` +
          'first server makes them.')
    }
    const shards = await shardsOf(connection)
    const [clockAheadMs, members, owned, data, control] = await Promise.all([
      connection.clockAheadMs(),
      new HeartbeatTable(connection).heartbeats(),
      new ShardTable(connection, shards).owners(),
      replicasOf(connection, connection.keyspace),
      replicasOf(connection, connection.control),
    ])
    const replicated = [...data > 1 ? [connection.keyspace] : [],
      ...control > 1 ? [connection.control] : []]
    const repairs = await readRepairs(connection, replicated)
    return { clockAheadMs, nodes: connection.localHosts(), replicas: { data, control }, members,
      shards, owned, ...repairs && { repairs }, schema: { known: supportedTables, ...version } }
  } finally {
    await connection.close()
  }
}

/** Replicas in the local data center. */
async function replicasOf(connection: Connection, keyspace: string): Promise<number> {
  const [row] = await connection.read({
    cql: 'SELECT replication FROM system_schema.keyspaces WHERE keyspace_name = ?',
    values: [keyspace],
  })
  const replication = row?.['replication']
  return Number(replication?.[connection.localDataCenter] ?? replication?.['replication_factor']
    ?? 0)
}

/** The oldest member that could work with tables of this version after this program opened them. */
export function oldestOfSteps(newest: number): number {
  return Math.max(0, ...migrations.slice(newest).map(({ oldest }) => oldest))
}
