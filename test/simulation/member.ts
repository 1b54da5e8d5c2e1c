/** A member as a simulated process: the real parts, assembled as in a real node of a cluster. */

import { RecentCommands } from '../../cluster/actors/recent-commands.ts'
import { ActivationTable, actorKeyText, createInbound, createRouter, openSession, pause,
  FailureDetector, ShardBalancer, shardOf } from '../../cluster/index.ts'
import type { ActorKey, Delivery, OwnershipCheck, Inbound, Member as Name, Router, Session,
  ShardClaim, Transport } from '../../cluster/index.ts'
import { HeddleError, ignoreNotFound } from '../../src/errors.ts'
import { itemKind } from '../../src/items/index.ts'
import { catalogKind } from '../../src/platform/records/catalog/catalog-actor.ts'
import { catalogLimits } from '../../src/platform/records/catalog/catalog-record.ts'
import type { ThreadIndex } from '../../src/search/index.ts'
import { HeartbeatTable } from '../../src/store/cassandra/cluster/heartbeat-table.ts'
import { SessionTable } from '../../src/store/cassandra/cluster/session-table.ts'
import { ShardTable } from '../../src/store/cassandra/cluster/shard-table.ts'
import type { Connection } from '../../src/store/cassandra/driver/connection.ts'
import { OwnedRowTable } from '../../src/store/cassandra/index/owned-row-table.ts'
import { CassandraLog } from '../../src/store/cassandra/log-port.ts'
import { BranchTable } from '../../src/store/cassandra/log/branch-table.ts'
import { ChunkTable } from '../../src/store/cassandra/log/chunk-table.ts'
import { LogTable } from '../../src/store/cassandra/log/log-table.ts'
import { WriteTimestamp } from '../../src/store/cassandra/log/write-timestamp.ts'
import { BillingTable } from '../../src/store/cassandra/tables/billing-table.ts'
import { RunTable } from '../../src/store/cassandra/tables/run-table.ts'
import { StoredBodies } from '../../src/store/cassandra/tables/stored-body.ts'
import type { SimulatedCassandra } from './cassandra.ts'
import { simulatedConnection } from './driver.ts'
import { LifeActor, runStatuses } from './life-actor.ts'
import type { LifeCommand, RunStatuses } from './life-actor.ts'
import { HeldActor, heldCommands } from './held-actor.ts'
import { itemCommands } from './item-clients.ts'
import type { RegisterCommand } from './item-clients.ts'
import { hasLives } from './life-clients.ts'
import { itemsIn, ListActor, tenant } from './list-actor.ts'
import type { Command } from './list-actor.ts'
import { MemberCrons } from './member-crons.ts'
import { MemberShards } from './member-shards.ts'
import type { RowTables } from './member-shards.ts'
import type { Process } from './process.ts'
import { recordCommands } from './record-commands.ts'
import { cacheWithout, connectionWithout, checksWithout, itemsWithout, logWithout, sessionsWithout,
  transportWithout } from './rule.ts'
import type { Rule, WrittenRow, WrittenTable } from './rule.ts'
import type { Ways } from './ways.ts'

export const shards = 4

export interface MemberOptions {
  readonly process: Process
  readonly cassandra: SimulatedCassandra
  readonly ways: Ways<Member>
  readonly address: string
  /** Whether this member finds that the other one answers; it may be wrong. */
  readonly lives: (other: Name) => Promise<boolean>
  readonly bucketBytes: number
  readonly without: Rule | undefined
  /** Whether clients use items. */
  readonly items: boolean
  /** Whether clients search for lists and runs. */
  readonly searches: boolean
  /** Whether it has crons. */
  readonly crons: boolean
  /** Rows that logs of catalogs have in vain before they move to new branches. */
  readonly spareRows: number
}

/** What it has once its session is open. */
interface ClusterNode {
  readonly session: Session
  readonly detector: FailureDetector
  readonly balancer: ShardBalancer
  readonly activations: ActivationTable
  readonly log: CassandraLog
  readonly router: Router
  readonly inbound: Inbound
  readonly crons: MemberCrons | undefined
}

/** How long a member lives on after it has given everything back. */
const afterlifeMs = 2_500
/** How long a member that leaves may take until it is killed. */
const slackMs = 2_000
/** No deadline: a member that takes too long is killed. */
const noHurry = new AbortController().signal

export class Member {
  readonly process: Process
  readonly self: Name
  readonly #options: MemberOptions
  readonly #connection: Connection
  readonly #rows: RowTables
  readonly #shards: MemberShards
  readonly #runs: RunTable
  readonly #written = new Map<string, () => void>()
  readonly #recent: RecentCommands
  #node: ClusterNode | undefined
  /** By table: listener for the next row. */
  readonly #onceWritten = new Map<WrittenTable, () => void>()
  /** Whether it is giving everything back. */
  #going = false

  constructor(options: MemberOptions) {
    const { process, cassandra, ways, address, without } = options
    this.#options = options
    this.process = process
    this.self = { id: process.env.uuid(), address }
    this.#recent = new RecentCommands(process.env)
    this.#connection = connectionWithout(without, simulatedConnection(process, cassandra),
      (row) => this.#rowWritten(row))
    this.#rows = rowTables(this.#connection)
    this.#shards = new MemberShards({ process, shards, tables: this.#rows, without })
    this.#runs = new RunTable({ connection: this.#connection, env: process.env,
      bodies: bodiesOf(this.#connection) })
    ways.attach(this.self.id, { process, reached: this })
    process.after(0, () => void this.#begin())
  }

  /** Whether clients may ask it. */
  get listening(): boolean {
    return this.#node !== undefined && this.process.state !== 'ended'
  }

  /** Shards that it believes it owns; it may be wrong. */
  get owned(): readonly number[] {
    const { balancer } = this.#node ?? {}
    if (balancer === undefined || this.process.state === 'ended') return []
    return Array.from({ length: shards }, (_, shard) => shard)
      .filter((shard) => balancer.ownerOf(shard)?.member.id === this.self.id)
  }

  /** It believes that it owns something, and keeps it. */
  get serving(): boolean {
    return !this.#going && this.owned.length > 0
  }

  /** When the next row of the table is on a quorum, before the member knows it. */
  onceWritten(fn: () => void, table: WrittenTable = 'log'): void {
    this.#onceWritten.set(table, fn)
  }

  /** To be called within the process. */
  readonly ask = (list: string,
    command: Command | LifeCommand | RegisterCommand): Promise<unknown> => {
    const registers = [itemCommands, recordCommands, heldCommands]
      .find(({ names }) => names.includes(list))
    const key = registers?.keyOf(list) ?? { kind: 'thread', id: list }
    const answer = this.#node!.router.ask({ ...key, tenant }, command)
    const isDeletion = 'kind' in command && command.kind === 'delete'
    if (registers !== recordCommands || !isDeletion) return answer
    // A deletion of what is not there is as good as one that was done.
    return answer.catch((error: unknown) => ignoreNotFound(error) ?? null)
  }

  /**
   * The items of a list as a search of its owner finds them; undefined if this member does not own
   * it, or has not covered its shard.
   */
  readonly found = async (list: string): Promise<readonly string[] | undefined> => {
    const row = await this.#shards.found(list)
    if (row === undefined || this.#node === undefined) return undefined
    await this.#node.session.check.confirm()
    return row === null ? [] : itemsIn(row.metadataJson)
  }

  /**
   * Status by run of a list as a search of all runs finds them; undefined as for `found`.
   */
  readonly foundRuns = async (list: string): Promise<RunStatuses | undefined> => {
    if (await this.#shards.found(list) === undefined || !this.#node) return undefined
    await this.#node.session.check.confirm()
    return await runStatuses(this.#runs, list)
  }

  /** The same for a cron. */
  readonly askCron = (id: string, command: unknown): Promise<unknown> =>
    this.#node!.router.ask({ kind: 'cron', tenant, id }, command)

  /** Takes a command of another member; a repeated command gets its first answer. */
  async deliver(key: ActorKey, command: unknown, { id = '' }: Delivery = {}): Promise<unknown> {
    const { inbound } = this.#node ?? {}
    if (inbound === undefined) throw silent()
    const reply = await this.#recent.answer(id,
      async () => Buffer.from(JSON.stringify(await inbound.ask(key, command, { id }))))
    return JSON.parse(Buffer.from(reply).toString()) as unknown
  }

  hear(owners: readonly ShardClaim[]): void {
    this.#node?.balancer.handle(owners)
  }

  async look(): Promise<void> {
    await this.#node?.detector.look()
  }

  sees(other: Name): Promise<boolean> {
    return this.#options.lives(other)
  }

  /** A planned end: what is under way ends before the session does. */
  async leave(): Promise<void> {
    const { activations, balancer, log, detector, session } = this.#node!
    this.process.after(slackMs, () => this.process.end())
    await this.#giveBack()
    await activations.close(noHurry)
    await log.close()
    balancer.close()
    await detector.close()
    await session.leave()
    this.process.end()
  }

  /** Gives all shards back and lives on for a while, with its session. */
  async giveBack(): Promise<void> {
    this.process.after(afterlifeMs, () => this.process.end())
    await this.#giveBack()
  }

  async #giveBack(): Promise<void> {
    const { balancer, detector } = this.#node!
    this.#going = true
    if (detector.others.length === 0) return
    await detector.leave()
    this.#notifyAll(detector, (other) => other.look())
    await balancer.leave()
    this.process.world.note(() => `${this.process.name} gave everything back`)
  }

  async #begin(): Promise<void> {
    const { process, without } = this.#options
    const { env } = process
    const sessions = sessionsWithout(without, new SessionTable(this.#connection, env))
    try {
      const session = await openSession({ env, self: this.self, sessions, onFenced: (reason) => {
        process.world.note(() => `${process.name} ends: ${reason}`)
        // It takes a moment, in which its answers still leave.
        process.after(process.world.chance.between(0, 40), () => process.end())
      } })
      const detector = this.#detector(session, sessions)
      const balancer = new ShardBalancer({
        env,
        self: this.self,
        shards,
        detector,
        shardOwners: new ShardTable(this.#connection, shards),
        announce: (owners) => this.#notifyAll(detector, async (other) => other.hear(owners)),
      })
      this.#shards.loadEarly()
      this.#node = this.#take(session, detector, balancer)
      await balancer.look()
      await detector.start()
      this.#notifyAll(detector, (other) => other.look())
      const { activations, log, crons } = this.#node
      await balancer.start(
        this.#shards.host({ activations, log, loaded: () => crons?.look(), owns: (shard) =>
          balancer.ownerOf(shard)?.member === this.self }),
      )
      process.world.note(() => `${process.name} has its shards: ${this.owned}`)
    } catch (error) {
      process.world.note(() => `${process.name} does not start: ${String(error)}`)
      process.end()
    }
  }

  #detector(session: Session, sessions: ReturnType<typeof sessionsWithout>): FailureDetector {
    const { process, ways, lives } = this.#options
    return new FailureDetector({
      env: process.env,
      self: this.self,
      member: true,
      sessions,
      lives,
      heartbeats: new HeartbeatTable(this.#connection),
      askPeer: (peer, member) => ways.call(process, peer, (other) => other.sees(member)),
      canFence: () => session.lives(),
      lastSeenMs: () => Number.NEGATIVE_INFINITY,
      ended: () => {},
    })
  }

  #notifyAll(detector: FailureDetector, notify: (other: Member) => Promise<void>): void {
    const { process, ways } = this.#options
    for (const other of detector.others) ways.call(process, other, notify).catch(() => {})
  }

  #take(session: Session, detector: FailureDetector, balancer: ShardBalancer): ClusterNode {
    const { process: { env }, without, spareRows } = this.#options
    const { check } = session
    const log = this.#log(check)
    const parts = {
      env,
      log: logWithout(without, log, check),
      threads: this.#threads(),
      runs: this.#runs,
      gets: this.#options.searches,
      ask: (key: ActorKey, command: unknown) => router.ask(key, command),
      hasty: without === 'purged_first',
      keepsFirst: without !== 'kept_first',
      ...without === 'order' && { early: (id: string, seq: number) => this.#early(check, id, seq) },
    }
    const epochOf = (key: ActorKey) => {
      const owner = balancer.ownerOf(shardOf(actorKeyText(key), shards))
      return owner?.member === this.self ? owner.epoch : undefined
    }
    const crons = this.#options.crons
      ? new MemberCrons({ process: this.process, index: this.#shards.index, log: parts.log, without,
        ask: parts.ask, epochOf }, () => activations)
      : undefined
    const activations: ActivationTable = new ActivationTable({
      env,
      idleMs: 2_000,
      ...without !== 'reply_fence' && { check },
      owns: (key, epoch) => epochOf(key) === epoch,
      kinds: [{ name: 'thread', create: (context) => (hasLives(context.key.id)
        ? new LifeActor(parts, context)
        : heldCommands.names.includes(context.key.id)
        ? new HeldActor(parts, context)
        : new ListActor(parts, context)) },
        itemKind({ env, log: parts.log, index: itemsWithout(without, this.#shards.index.items) }),
        catalogKind({ env, log: parts.log, limits: { ...catalogLimits, spareRows } }),
        ...crons ? [crons.kind] : []],
    })
    const transport = transportWithout(without, this.#transport(), env.uuid)
    const ownership = balancer
    const router: Router = createRouter({ env, ownership, activations, transport })
    const inbound = createInbound({ ownership, activations, services: [] })
    return { session, detector, balancer, activations, log, router, inbound, crons }
  }

  #transport(): Transport {
    const { process, ways } = this.#options
    return {
      deliver: (to, key, command, delivery) =>
        ways.call(process, to, (other) => other.deliver(key, command, delivery)),
      follow: () => Promise.reject(new Error('a list has nothing to follow')),
    }
  }

  #log(check: OwnershipCheck): CassandraLog {
    const { process: { env }, without, bucketBytes } = this.#options
    const connection = this.#connection
    const rank = new WriteTimestamp()
    const chunks = new ChunkTable(connection)
    const branches = new BranchTable(connection, rank)
    const { rolling, appending } = checksWithout(without, check)
    return new CassandraLog({
      env,
      connection,
      rank,
      branches,
      runs: this.#runs,
      billing: new BillingTable(connection),
      rows: this.#rows,
      check: appending,
      index: this.#shards.index,
      log: new LogTable({ connection, rank, chunks, env, check: rolling, commit: 'validate',
        cache: cacheWithout(without), bucketBytes, isDead: (id) => branches.isDead(id) }),
    })
  }

  #threads(): ThreadIndex {
    return { ...this.#shards.index.threads, search: searched, count: searched }
  }

  #rowWritten({ table, values }: WrittenRow): Promise<void> | undefined {
    if (table === 'log') this.#written.get(`${String(values[0])} ${String(values[3])}`)?.()
    const notify = this.#onceWritten.get(table)
    if (notify === undefined) return undefined
    this.#onceWritten.delete(table)
    notify()
    return pause(this.process.env, 0)
  }

  async #early(check: OwnershipCheck, branchId: string, seq: number): Promise<void> {
    await new Promise<void>((resolve) => this.#written.set(`${branchId} ${seq}`, resolve))
    await check.confirm()
  }
}

function bodiesOf(connection: Connection): StoredBodies {
  return new StoredBodies(connection, new ChunkTable(connection))
}

function rowTables(connection: Connection): RowTables {
  const bodies = bodiesOf(connection)
  const settings = { shards, buckets: 1 }
  const table = (kind: keyof RowTables) => new OwnedRowTable({ connection, bodies, settings, kind })
  return { thread: table('thread'), assistant: table('assistant'), cron: table('cron'),
    item: table('item') }
}

const searched = () => Promise.reject(new Error('actors do not search here'))

/** The error of a member that has started and does not listen yet. */
function silent(): HeddleError {
  return new HeddleError('unavailable', 'It does not listen yet.', { unreachable: 'starting' })
}
