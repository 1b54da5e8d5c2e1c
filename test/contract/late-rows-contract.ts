/** Rows that are written behind the acknowledgement, over both ways to write the log. */

import { randomUUID } from 'node:crypto'

import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

import { actorKeyText, ByteBudget, shardOf, systemEnv } from '../../cluster/index.ts'
import type { RecordOf } from '../../src/checkpoint/index.ts'
import type { RunTable as RunTablePort } from '../../src/search/index.ts'
import type { Connection } from '../../src/store/cassandra/driver/connection.ts'
import type { LocalIndex } from '../../src/store/cassandra/index/local-index.ts'
import { OwnedRowTable } from '../../src/store/cassandra/index/owned-row-table.ts'
import { CassandraLog } from '../../src/store/cassandra/log-port.ts'
import { BranchTable } from '../../src/store/cassandra/log/branch-table.ts'
import { ChunkTable } from '../../src/store/cassandra/log/chunk-table.ts'
import { LogTable } from '../../src/store/cassandra/log/log-table.ts'
import type { CommitMode } from '../../src/store/cassandra/log/log-table.ts'
import { RowCache } from '../../src/store/cassandra/log/row-cache.ts'
import { WriteTimestamp } from '../../src/store/cassandra/log/write-timestamp.ts'
import { lateRuns } from '../../src/store/cassandra/projection/late-runs.ts'
import { Projections } from '../../src/store/cassandra/projection/projections.ts'
import { BillingTable } from '../../src/store/cassandra/tables/billing-table.ts'
import { RunTable } from '../../src/store/cassandra/tables/run-table.ts'
import { StoredBodies } from '../../src/store/cassandra/tables/stored-body.ts'
import { ThreadLog } from '../../src/thread/log/thread-log.ts'
import { MemoryIndex } from '../simulation/memory-index.ts'
import type { CassandraForTests } from '../support/cassandra.ts'
import { openCheck } from '../support/open-check.ts'
import { repeats } from '../support/repeats.ts'
import { useLogHouse } from './cassandra-log-house.ts'

/**
 * begin  a run begins          pass   a run begins and ends in one row of the log
 * end    the oldest run ends   look   the owner answers about runs
 * leave  the owner gives the thread to the next member in peace
 * die    the owner dies, and its rows that wait with it
 * stray  the same, but its rows are written later, when the next owner has begun
 */
const operations = ['begin', 'pass', 'end', 'look', 'leave', 'die', 'stray'] as const

type Operation = typeof operations[number]

const sequences = fc.array(fc.constantFrom(...operations), { minLength: 4, maxLength: 16 })

const settings = { shards: 256, buckets: 1 }
const env = systemEnv({ level: 'silent' })
const atOnce = 8
/** No sequence begins later, but the first ones. */
const withinMs = repeats({ day: 12_000, night: 600_000 })
const least = 20

export function describeLateRows(cassandra: CassandraForTests, count: number): void {
  describe('rows behind the acknowledgement', () => {
    const house = useLogHouse(cassandra)

    it(`say what the log says, in both modes, in ${count} sequences`, async () => {
      const wanted = fc.sample(sequences, { numRuns: count, seed: 5 })
      const end = performance.now() + withinMs
      let done = 0
      const lane = async () => {
        while (done < least || performance.now() < end) {
          const next = wanted.pop()
          if (next === undefined) return
          const [validate, lwt] = await Promise.all(
            (['validate', 'lwt'] as const).map((mode) =>
              new Sequence(house.connection, mode).all(next)
            ),
          )
          expect(lwt, next.join()).toEqual(validate)
          done += 1
        }
      }
      await Promise.all(Array.from({ length: atOnce }, lane))
      console.log(`${done} of ${count} sequences with late rows`)
      expect(done).toBeGreaterThanOrEqual(Math.min(count, least))
    })
  })
}

interface Member {
  readonly thread: ThreadLog
  readonly runs: RunTablePort
  readonly table: RunTable
  readonly projections: Projections
}

/** One thread with one owner after the other. */
class Sequence {
  readonly #connection: Connection
  readonly #mode: CommitMode
  readonly #tenant = `late-${randomUUID()}`
  readonly #threadId = randomUUID()
  /** Status of each run, in the order in which they began. */
  readonly #runs = new Map<string, 'pending' | 'success'>()
  #epoch = 0
  #owner!: Member

  constructor(connection: Connection, mode: CommitMode) {
    this.#connection = connection
    this.#mode = mode
  }

  /** Returns the status of the runs, as the last owner and the table have them. */
  async all(sequence: readonly Operation[]): Promise<readonly string[]> {
    await this.#takeOver()
    for (const operation of sequence) await this.#do(operation)
    await this.#takeOver()
    await this.#look()
    const { table, projections } = this.#owner
    await projections.writtenRunsOf(this.#tenant)
    await this.#expectListed(table)
    await projections.close()
    return [...this.#runs.values()]
  }

  async #do(operation: Operation): Promise<void> {
    const { thread, projections } = this.#owner
    switch (operation) {
      case 'begin':
        return this.#write(this.#begun(randomUUID()))
      case 'pass': {
        const runId = randomUUID()
        return this.#write([...this.#begun(runId), ended(runId)])
      }
      case 'end': {
        const [oldest] = thread.state.runs
        return oldest && this.#write([ended(oldest.runId)])
      }
      case 'look':
        return this.#look()
      case 'leave':
        await projections.writtenIn(this.#shard)
        return this.#takeOver()
      case 'die':
        return this.#takeOver()
      case 'stray':
        await this.#takeOver()
        return projections.close()
    }
  }

  get #shard(): number {
    const { shards } = settings
    return shardOf(actorKeyText({ kind: 'thread', tenant: this.#tenant, id: this.#threadId }),
      shards)
  }

  async #write(records: readonly RecordOf[]): Promise<void> {
    await this.#owner.thread.write(records)
    for (const { $case, value } of records) {
      if ($case === 'runCreated') this.#runs.set(value.runId, 'pending')
      if ($case === 'runEnded') this.#runs.set(value.runId, 'success')
    }
  }

  #begun(runId: string): RecordOf[] {
    const atMs = env.nowMs()
    const created: RecordOf = { $case: 'threadCreated',
      value: { threadId: this.#threadId, atMs, metadataJson: '{}', hidden: false, copiedFrom: '',
        headCheckpointId: '', status: '', interruptsJson: '' } }
    return [...this.#owner.thread.state.exists ? [] : [created], { $case: 'runCreated',
      value: { runId, atMs, assistantId: '', commandId: '', multitaskStrategy: 'enqueue',
        metadataJson: '{}', kwargsJson: '{}', planJson: '{}', notBeforeMs: 0 } }]
  }

  /** The owner lists all runs, and finds each by its id. */
  async #look(): Promise<void> {
    const { runs } = this.#owner
    for (const [runId, status] of this.#runs) {
      expect((await runs.get(this.#tenant, this.#threadId, runId))?.status).toBe(status)
    }
    await this.#expectListed(runs)
  }

  async #expectListed(table: Pick<RunTablePort, 'list'>): Promise<void> {
    const rows = await table.list({ tenant: this.#tenant, threadId: this.#threadId, limit: 100,
      offset: 0, texts: [] })
    const listed = rows.map(({ runId, status }) => `${runId} ${status}`)
    expect(listed.toSorted())
      .toEqual([...this.#runs].map(([runId, status]) => `${runId} ${status}`).toSorted())
  }

  /** A member with nothing in memory, which reads what the one before has left. */
  async #takeOver(): Promise<void> {
    const connection = this.#connection
    const [rank, chunks] = [new WriteTimestamp(), new ChunkTable(connection)]
    const bodies = new StoredBodies(connection, chunks)
    const branches = new BranchTable(connection, rank)
    const rows = (kind: 'thread' | 'assistant' | 'cron' | 'item') =>
      new OwnedRowTable({ connection, bodies, settings, kind })
    const threads = rows('thread')
    const index = new MemoryIndex({ kind: 'thread', shards: settings.shards, tenant: this.#tenant })
    const table = new RunTable({ connection, bodies, env })
    const projections = new Projections({ env, connection, runs: table, threads })
    await index.take(this.#shard, threads, () => Promise.reject(new Error('it cannot be read')))
    const log = new CassandraLog({ env, connection, rank, branches, runs: table, projections,
      billing: new BillingTable(connection), check: openCheck,
      rows: { thread: threads, assistant: rows('assistant'), cron: rows('cron'),
        item: rows('item') }, index: index as unknown as LocalIndex,
      log: new LogTable({ connection, rank, chunks, cache: new RowCache(1e6), env, check: openCheck,
        commit: this.#mode, isDead: (id) => branches.isDead(id) }) })
    const thread = await ThreadLog.load({
      ports: { log, threads: index.threads, views: new ByteBudget(1e6) },
      tenant: this.#tenant,
      threadId: this.#threadId,
      epoch: ++this.#epoch,
      after: env.after,
      onLost: () => {},
    })
    this.#owner = { thread, table, projections, runs: lateRuns(table, projections) }
  }
}

function ended(runId: string): RecordOf {
  return { $case: 'runEnded',
    value: { runId, atMs: env.nowMs(), status: 'success', errorJson: '', interruptsJson: '',
      waiting: false, finalCheckpointId: '', owesWebhook: false, ownerDeaths: 0, suspect: false,
      attempt: 0 } }
}
