/** Rows of threads without runs, as a store has them after a while. */

import { randomUUID } from 'node:crypto'
import { systemEnv } from '../../cluster/index.ts'
import { ThreadRow } from '../../proto/gen/storage/v1/row.ts'
import { readSettings } from '../../src/store/cassandra/cluster/setting-table.ts'
import { Connection } from '../../src/store/cassandra/driver/connection.ts'
import type { Statement } from '../../src/store/cassandra/driver/connection.ts'
import { forEachLimit } from '../../src/store/cassandra/driver/for-each-limit.ts'
import { OwnedRowTable } from '../../src/store/cassandra/index/owned-row-table.ts'
import { ChunkTable } from '../../src/store/cassandra/log/chunk-table.ts'
import { WriteTimestamp } from '../../src/store/cassandra/log/write-timestamp.ts'
import { StoredBodies } from '../../src/store/cassandra/tables/stored-body.ts'
import { aThread } from '../contract/rows.ts'
import type { CassandraKeyspace } from '../support/cassandra-keyspace.ts'

/** The number of threads per user. */
const threadsOfUser = 20
const graphs = ['chat', 'research', 'support']

/** Bypasses the log and writes many rows of a partition at once: only reading is measured. */
export async function putThreads(place: CassandraKeyspace, count: number): Promise<void> {
  const { contactPoints, dataCenter, keyspace } = place
  const env = systemEnv({ level: 'silent' })
  const connection = await Connection.open({
    env,
    contactPoints,
    localDataCenter: dataCenter,
    keyspace,
  })
  const partitions = new Map<string, Statement[]>()
  const gathered = {
    read: (statement: Statement) => connection.read(statement),
    write: async (statement: Statement) => {
      const [shard, bucket] = statement.values
      const partition = `${String(shard)} ${String(bucket)}`
      partitions.set(partition, [...partitions.get(partition) ?? [], statement])
    },
    batch: (statements: readonly Statement[]) => connection.batch(statements),
  }
  const bodies = new StoredBodies(gathered, new ChunkTable(connection))
  const settings = await readSettings(connection, env)
  const table = new OwnedRowTable({ connection, bodies, settings, kind: 'thread' })
  const rank = new WriteTimestamp()
  for (let number = 0; number < count; number += 1) {
    const row = threadOf(number)
    const body = ThreadRow.encode(row).finish()
    await table.put({ tenant: row.tenant, id: row.threadId, body, rank: rank.next(1) })
  }
  await forEachLimit(8, partitions.values(), async (statements) => {
    for (let at = 0; at < statements.length; at += rowsInBatch) {
      await connection.batch(statements.slice(at, at + rowsInBatch))
    }
  })
  await connection.close()
}

const rowsInBatch = 40

function threadOf(number: number): ThreadRow {
  const createdAtMs = 1_700_000_000_000 + number * 1_000
  const metadata = { user: userOf(number), graph_id: graphOf(number), channel: channelOf(number) }
  return aThread({
    createdAtMs,
    updatedAtMs: createdAtMs,
    stateUpdatedAtMs: createdAtMs,
    epoch: 1,
    seq: 4,
    status: number % 10 === 0 ? 'interrupted' : 'idle',
    metadataJson: JSON.stringify(metadata),
    head: { id: randomUUID(), seq: 4, base: 1 },
    stepSeq: 4,
  })
}

export function graphOf(number: number): string {
  return graphs[number % graphs.length]!
}

export function channelOf(number: number): string {
  return `channel ${number % 50}`
}

export function userOf(number: number): string {
  return `user ${Math.floor(number / threadsOfUser)}`
}
