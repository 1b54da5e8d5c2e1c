/** Handles on the log tables of a real Cassandra, each like a separate member. */

import { afterAll, beforeAll } from 'vitest'

import { systemEnv } from '../../cluster/index.ts'
import type { Branch } from '../../proto/gen/storage/v1/row.ts'
import { Connection } from '../../src/store/cassandra/driver/connection.ts'
import type { Statement } from '../../src/store/cassandra/driver/connection.ts'
import { ChunkTable } from '../../src/store/cassandra/log/chunk-table.ts'
import { RowCache } from '../../src/store/cassandra/log/row-cache.ts'
import { LogTable } from '../../src/store/cassandra/log/log-table.ts'
import type { LogTableOptions } from '../../src/store/cassandra/log/log-table.ts'
import { WriteTimestamp } from '../../src/store/cassandra/log/write-timestamp.ts'
import { prepareSchema } from '../../src/store/cassandra/schema/schema.ts'
import { sharedKeyspace } from '../support/shared-keyspace.ts'
import type { CassandraForTests } from '../support/cassandra.ts'
import { aRow, textBody } from './rows.ts'

type HandleOptions = Partial<Omit<LogTableOptions, 'chunks'>>

export interface LogHouse {
  readonly connection: Connection
  /** A new member, with nothing in memory. */
  handle(options?: HandleOptions): LogTable
}

/** The tables that files share, for all tests of a suite. */
export function useLogHouse(cassandra: CassandraForTests): LogHouse {
  const env = systemEnv({ level: 'silent' })
  let connection: Connection
  beforeAll(async () => {
    connection = await Connection.open({ env, contactPoints: cassandra.contactPoints,
      localDataCenter: cassandra.dataCenter, keyspace: sharedKeyspace(cassandra).keyspace })
    await prepareSchema({ connection, env })
  })
  afterAll(async () => {
    await connection.close()
  })
  return {
    get connection() {
      return connection
    },
    handle(options = {}) {
      const via = options.connection ?? connection
      return new LogTable({
        connection: via,
        rank: new WriteTimestamp(),
        chunks: new ChunkTable(via),
        cache: new RowCache(1e6),
        env,
        commit: 'validate',
        check: { confirm: async () => {} },
        isDead: async () => false,
        ...options,
      })
    },
  }
}

/** An owner of this epoch, which writes from the end of the log that it has read. */
export async function ownerOf(log: LogTable, branch: Branch, epoch: number) {
  let tip = await log.tail(branch) ?? { epoch: 0, seq: 0 }
  return {
    log,
    /** Appends rows in sequence, without waiting between them. */
    append(count: number, places: readonly string[] = []) {
      return Promise.all(Array.from({ length: count }, () => {
        const { epoch: prevEpoch, seq: before } = tip
        const seq = before + 1
        tip = { epoch, seq }
        return log.append([
          aRow({ branch, seq, epoch, prevEpoch, body: textBody(`${epoch}/${seq}`),
            places: places.map((id) => ({ id, seq, base: epoch })) }),
        ])
      }))
    },
  }
}

/** The same connection, observed and held back by a test. */
export interface WatchedConnection {
  readonly connection: Connection
  /** The requests to Cassandra since the last call: `read`, `write`, `batch` or `swap` each. */
  asked(): string[]
  /** Holds back changes of the log from now on. */
  hold(): void
  /** Sends held changes, in this order of calls; by default all, in the order of their calls. */
  release(...order: number[]): Promise<void>
}

export function watched(real: Connection): WatchedConnection {
  const asked: string[] = []
  let holding = false
  const held: (() => Promise<void>)[] = []
  const change = (kind: string, send: () => Promise<void>) => {
    asked.push(kind)
    if (!holding) return send()
    return new Promise<void>((resolve, reject) => {
      held.push(() => send().then(resolve, reject))
    })
  }
  const noted = <Answer>(kind: string, answer: Answer) => {
    asked.push(kind)
    return answer
  }
  const connection = {
    keyspace: real.keyspace,
    write: (statement: Statement) => change('write', () => real.write(statement)),
    batch: (statements: readonly Statement[]) => change('batch', () => real.batch(statements)),
    read: (statement: Statement) => noted('read', real.read(statement)),
    pages: (statement: Statement, size: number) => noted('read', real.pages(statement, size)),
    swap: (statements: readonly Statement[]) => noted('swap', real.swap(statements)),
  }
  return {
    connection: connection as unknown as Connection,
    asked: () => asked.splice(0),
    hold() {
      holding = true
    },
    async release(...order) {
      holding = false
      const sends = held.splice(0)
      for (const at of order.length > 0 ? order : sends.keys()) await sends[at]!()
    },
  }
}
