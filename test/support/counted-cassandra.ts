/** The store's log on a model of Cassandra in memory, which counts calls by table. */

import type { Connection, Statement } from '../../src/store/cassandra/driver/connection.ts'
import { LocalIndex } from '../../src/store/cassandra/index/local-index.ts'
import { OwnedRowTable } from '../../src/store/cassandra/index/owned-row-table.ts'
import type { OwnedTable } from '../../src/store/cassandra/index/owned-row.ts'
import { CassandraLog } from '../../src/store/cassandra/log-port.ts'
import { BranchTable } from '../../src/store/cassandra/log/branch-table.ts'
import { ChunkTable } from '../../src/store/cassandra/log/chunk-table.ts'
import { LogTable } from '../../src/store/cassandra/log/log-table.ts'
import { RowCache } from '../../src/store/cassandra/log/row-cache.ts'
import { WriteTimestamp } from '../../src/store/cassandra/log/write-timestamp.ts'
import { BillingTable } from '../../src/store/cassandra/tables/billing-table.ts'
import { RunTable } from '../../src/store/cassandra/tables/run-table.ts'
import type { FormerTables } from '../../src/store/cassandra/tables/run-table.ts'
import { StoredBodies } from '../../src/store/cassandra/tables/stored-body.ts'
import { keyspace, SimulatedCassandra } from '../simulation/cassandra.ts'
import { simulatedConnection } from '../simulation/driver.ts'
import { Process } from '../simulation/process.ts'
import { World } from '../simulation/world.ts'
import { openInlineScratch } from './inline-scratch.ts'
import { openCheck } from './open-check.ts'

const settings = { shards: 1, buckets: 1 }

/** A world that goes on by itself whenever something is to happen. */
class LiveWorld extends World {
  #isAwake = false

  override after(ms: number, fn: () => void): () => void {
    this.#wake()
    return super.after(ms, fn)
  }

  override wakeAfter(ms: number, fn: () => void): () => void {
    this.#wake()
    return super.wakeAfter(ms, fn)
  }

  #wake(): void {
    if (this.#isAwake) return
    this.#isAwake = true
    setImmediate(() => {
      this.#isAwake = false
      void this.run(() => false, Infinity)
    })
  }
}

/** Cassandra, and one member after the other on it. */
export class CountedCassandra {
  readonly #world = new LiveWorld(1)
  readonly #cassandra = new SimulatedCassandra(this.#world, { readRepair: true,
    fenceOnQuorum: true })
  readonly #calls: string[] = []
  #members = 0

  /** Calls since the last time, by what they do and to which table: `read log`. */
  calls(): Readonly<Record<string, number>> {
    const counts: Record<string, number> = {}
    for (const call of this.#calls.splice(0)) counts[call] = (counts[call] ?? 0) + 1
    return counts
  }

  /** Names of the partitions of runs that have rows. */
  runPartitions(): string[] {
    const rows = this.#cassandra.stored(`SELECT part FROM ${keyspace}.run`)
    return [...new Set(rows.map((row) => row['part'] as string))]
  }

  /** A member with nothing in memory, which owns everything. */
  async member(
    { cacheBytes = 1e6, former }: { readonly cacheBytes?: number;
      readonly former?: FormerTables | undefined } = {},
  ) {
    const process = new Process(this.#world, `m${++this.#members}`)
    const connection = this.#counted(simulatedConnection(process, this.#cassandra))
    const rank = new WriteTimestamp()
    const chunks = new ChunkTable(connection)
    const bodies = new StoredBodies(connection, chunks)
    const branches = new BranchTable(connection, rank)
    const table = (kind: OwnedTable) => new OwnedRowTable({ connection, bodies, settings, kind })
    const rows = { thread: table('thread'), assistant: table('assistant'), cron: table('cron'),
      item: table('item') }
    const cache = new RowCache(cacheBytes)
    const { env } = process
    const index = new LocalIndex({ store: openInlineScratch(env, 1), tables: rows, env })
    await index.load(0)
    const runs = new RunTable({ connection, bodies, env, former })
    const log = new CassandraLog({
      env,
      connection,
      rank,
      branches,
      runs,
      billing: new BillingTable(connection),
      rows,
      check: openCheck,
      index,
      log: new LogTable({ connection, rank, chunks, cache, env, check: openCheck,
        commit: 'validate', isDead: (id) => branches.isDead(id) }),
    })
    return { log, cache, runs, env, threads: index.threads }
  }

  #counted(real: Connection): Connection {
    const count = (what: string, { cql }: Statement) =>
      this.#calls.push(`${what} ${/(?:FROM|INTO|UPDATE) \w+\.(\w+)/.exec(cql)![1]}`)
    return Object.assign(Object.create(real) as Connection, {
      read: (statement: Statement) => {
        count('read', statement)
        return real.read(statement)
      },
      pages: (statement: Statement, size: number) => {
        count('read', statement)
        return real.pages(statement, size)
      },
      write: (statement: Statement) => {
        count('write', statement)
        return real.write(statement)
      },
      batch: (statements: readonly Statement[]) => {
        count('write', statements[0]!)
        return real.batch(statements)
      },
      surely: (work: () => Promise<void>) => real.surely(work),
      keyspace: real.keyspace,
    })
  }
}
