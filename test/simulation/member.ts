/** A member as a simulated process: the real parts, put together as the server does it. */

import { Activations, actorKeyText, openSession, shardOf } from '../../cluster/index.ts'
import type { Gate, Member as Name, Probe, Session, ShardPort } from '../../cluster/index.ts'
import { BranchTable } from '../../src/store/cassandra/branch-table.ts'
import { ChunkTable } from '../../src/store/cassandra/chunk-table.ts'
import type { Connection } from '../../src/store/cassandra/connection.ts'
import type { LocalIndex } from '../../src/store/cassandra/local-index.ts'
import { CassandraLog } from '../../src/store/cassandra/log-port.ts'
import { LogTable } from '../../src/store/cassandra/log-table.ts'
import { OwnedRowTable } from '../../src/store/cassandra/owned-row-table.ts'
import { Rank } from '../../src/store/cassandra/rank.ts'
import { RunTable } from '../../src/store/cassandra/run-table.ts'
import { SessionTable } from '../../src/store/cassandra/session-table.ts'
import { ShardTable } from '../../src/store/cassandra/shard-table.ts'
import { StoredBodies } from '../../src/store/cassandra/stored-body.ts'
import type { SimulatedCassandra } from './cassandra.ts'
import { simulatedConnection } from './driver.ts'
import { listKind, tenant } from './list-actor.ts'
import type { Command } from './list-actor.ts'
import { MemoryIndex } from './memory-index.ts'
import type { Process } from './process.ts'
import { connectionWithout, gatesWithout, logWithout, sessionsWithout }
  from './rule.ts'
import type { Rule } from './rule.ts'

export const shards = 2

export interface MemberOptions {
  readonly process: Process
  readonly cassandra: SimulatedCassandra
  readonly address: string
  readonly probe: Probe
  readonly bucketBytes: number
  readonly without: Rule | undefined
}

/** What it has once it owns the shards. */
interface Served {
  readonly session: Session
  readonly activations: Activations
  readonly log: CassandraLog
}

type RowTables = Readonly<Record<'thread' | 'assistant', OwnedRowTable>>

const loadAgainMs = 300
/** How long a member that gives everything back lives on. */
const afterlifeMs = 1_500
/** How long a member that leaves may take until it is killed. */
const graceMs = 500

export class Member {
  readonly process: Process
  readonly self: Name
  readonly #options: MemberOptions
  readonly #connection: Connection
  readonly #shardOwners: ShardPort
  readonly #index = new MemoryIndex()
  readonly #written = new Map<string, () => void>()
  #served: Served | undefined
  /** It gave everything back, or is about to. */
  #going = false

  constructor(options: MemberOptions) {
    const { process, cassandra, address, without } = options
    this.#options = options
    this.process = process
    this.self = { id: process.env.uuid(), address }
    this.#connection = connectionWithout(without, simulatedConnection(process, cassandra),
      (branchId, seq) => this.#written.get(`${branchId} ${seq}`)?.())
    this.#shardOwners = new ShardTable(this.#connection, shards)
    process.after(0, () => void this.#begin())
  }

  /** It believes that it owns the shards; it may be wrong. */
  get serving(): boolean {
    return this.#served !== undefined && !this.#going && this.process.state !== 'ended'
  }

  /** Happens in the process. */
  readonly ask = (threadId: string, command: Command): Promise<unknown> => {
    const { activations, session: { ownership } } = this.#served!
    const key = { kind: 'thread', tenant, id: threadId }
    const { epoch } = ownership.ownerOf(shardOf(actorKeyText(key), shards))
    return activations.ask(key, epoch, command)
  }

  /** A planned end: what is under way ends before the session does. */
  async leave(): Promise<void> {
    const { activations, log, session } = this.#served!
    this.#going = true
    this.process.after(graceMs, () => this.process.end())
    await activations.close(new AbortController().signal)
    await log.close()
    await session.leave()
    this.process.end()
  }

  /** Gives all shards back, while its session lives on. */
  async giveBack(): Promise<void> {
    const { activations, log } = this.#served!
    const { without, process } = this.#options
    const drained = async () => {
      this.#going = true
      await activations.close(new AbortController().signal)
      await log.close()
    }
    process.world.note(() => `${process.name} gives its shards back`)
    process.after(afterlifeMs, () => process.end())
    if (without !== 'drain') await drained()
    await this.#release()
    if (without === 'drain') process.after(process.world.chance.between(0, 500), () => {
      void drained()
    })
  }

  async #begin(): Promise<void> {
    const { process, probe, without } = this.#options
    const { env } = process
    const sessions = sessionsWithout(without, new SessionTable(this.#connection, env))
    const rows = this.#rowTables()
    try {
      if (without === 'rows_after') await this.#index.load(rows.thread, shards)
      const session = await openSession({
        env, self: this.self, sessions, shardOwners: this.#shardOwners, probe, shards,
        onFenced: (reason) => {
          process.world.note(() => `${process.name} ends: ${reason}`)
          process.end()
        },
      })
      this.#serve(session, rows)
    } catch (error) {
      process.world.note(() => `${process.name} does not start: ${String(error)}`)
      process.end()
    }
  }

  #serve(session: Session, rows: RowTables): void {
    const { process: { env, name, world }, without, bucketBytes } = this.#options
    const { gate } = session
    const connection = this.#connection
    const rank = new Rank()
    const chunks = new ChunkTable(connection)
    const branches = new BranchTable(connection, rank)
    const runs = new RunTable(connection, new StoredBodies(connection, chunks))
    const { rolling, appending } = gatesWithout(without, gate)
    const log = new CassandraLog({
      connection, rank, branches, runs, rows, gate: appending,
      index: this.#index as unknown as LocalIndex,
      log: new LogTable({ connection, rank, chunks, env, gate: rolling, commit: 'validate',
        bucketBytes, isDead: (id) => branches.isDead(id) }),
    })
    const activations = new Activations({
      env, idleMs: 2_000, ...without !== 'reply_gate' && { gate },
      kinds: [listKind({
        env, log: logWithout(without, log, gate), threads: this.#index.threads,
        ...without === 'order' && { early: (id, seq) => this.#early(gate, id, seq) },
      })],
    })
    this.#served = { session, activations, log }
    world.note(() => `${name} serves, epochs ` +
      Array.from({ length: shards }, (_, shard) => session.ownership.ownerOf(shard).epoch))
    if (without !== 'rows_after') this.#load(rows.thread)
  }

  #load(table: OwnedRowTable): void {
    const { env } = this.process
    this.#index.load(table, shards).catch(() => env.after(loadAgainMs, () => this.#load(table)))
  }

  #rowTables(): RowTables {
    const connection = this.#connection
    const bodies = new StoredBodies(connection, new ChunkTable(connection))
    const settings = { shards, buckets: 1 }
    const table = (kind: 'thread' | 'assistant') =>
      new OwnedRowTable({ connection, bodies, settings, kind })
    return { thread: table('thread'), assistant: table('assistant') }
  }

  async #early(gate: Gate, branchId: string, seq: number): Promise<void> {
    await new Promise<void>((resolve) => this.#written.set(`${branchId} ${seq}`, resolve))
    await gate.pass()
  }

  /** Each from itself to nobody. */
  async #release(): Promise<void> {
    const { session: { ownership } } = this.#served!
    for (let shard = 0; shard < shards; shard++) {
      const { epoch } = ownership.ownerOf(shard)
      const from = { shard, epoch, session: this.self.id, address: this.self.address }
      const release = () => this.#shardOwners.claim({ from, to: { ...from, session: null } })
      for (let tries = 0; tries < 5; tries++) {
        const outcome = await release().catch(() => undefined)
        if (outcome?.kind !== 'unknown') break
      }
    }
  }
}
