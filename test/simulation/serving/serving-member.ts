/** A member as a simulated process: all of its parts are those of a server, from store to door. */

import { clusterNodeOver, withClusterKinds } from '../../../cluster/cluster-node.ts'
import { openSession, pause } from '../../../cluster/index.ts'
import type { ClusterNode, Member as Name } from '../../../cluster/index.ts'
import { RunKeys } from '../../../src/access/index.ts'
import { HeddleError } from '../../../src/errors.ts'
import type { App } from '../../../src/frontdoor/http/route.ts'
import { ReadQuota, unlimited } from '../../../src/limits/index.ts'
import type { GuardedEgress } from '../../../src/egress/index.ts'
import { openActors } from '../../../src/server/actors.ts'
import type { Actors } from '../../../src/server/actors.ts'
import { activityService } from '../../../src/server/backends/actor-activity.ts'
import type { Backend } from '../../../src/server/backends/backend.ts'
import { memberWires, servedBackend } from '../../../src/server/backends/cassandra-backend.ts'
import { LocalIndex } from '../../../src/store/cassandra/index/local-index.ts'
import { RowCache } from '../../../src/store/cassandra/log/row-cache.ts'
import { storeInKeyspace } from '../../../src/store/cassandra/store.ts'
import type { CassandraStore } from '../../../src/store/cassandra/index.ts'
import { Quarantine } from '../../../src/thread/index.ts'
import type { AgentWorld } from '../../../verify/agent/agent.ts'
import { openInlineScratch } from '../../support/inline-scratch.ts'
import type { SimulatedCassandra } from '../cassandra.ts'
import { simulatedConnection } from '../driver.ts'
import type { Process } from '../process.ts'
import { connectionWithout } from '../rule.ts'
import type { WrittenTable } from '../rule.ts'
import type { Ways } from '../ways.ts'
import { graphsOf } from './graph-process.ts'
import { MemberEntrance, memberTransport } from './member-transport.ts'
import { openServingDoor } from './serving-door.ts'

export const shards = 4
const kinds = withClusterKinds(memberWires)
/** Bytes of rows of logs in memory: few, so that some are read from the store. */
const logCacheBytes = 400_000
const releaseMs = 4_000
/** Time that a member that leaves may take until it is killed. */
const slackMs = 8_000

export interface ServingMemberOptions {
  readonly process: Process
  readonly cassandra: SimulatedCassandra
  readonly ways: Ways<MemberEntrance>
  readonly address: string
  /** What its graphs use of the world outside. */
  readonly outside: AgentWorld
  readonly egress: Pick<GuardedEgress, 'check' | 'send'>
  /** True if the other member responds; it may be wrong. */
  lives(other: Name): Promise<boolean>
}

/** The parts of a member that serves. */
interface Serving {
  readonly node: ClusterNode
  readonly backend: Backend
  readonly actors: Actors
  readonly door: App
}

export class ServingMember {
  readonly process: Process
  readonly self: Name
  readonly #options: ServingMemberOptions
  readonly #entrance: MemberEntrance
  readonly #onceWritten = new Map<WrittenTable, () => void>()
  #serving: Serving | undefined
  #isLeaving = false

  constructor(options: ServingMemberOptions) {
    const { process, ways, address } = options
    this.#options = options
    this.process = process
    this.self = { id: process.env.uuid(), address }
    this.#entrance = new MemberEntrance(process, kinds)
    ways.attach(this.self.id, { process, reached: this.#entrance })
    process.after(0, () => void this.#start())
  }

  /** The application of its front door; undefined while it does not listen. */
  get door(): App | undefined {
    return this.process.state === 'ended' ? undefined : this.#serving?.door
  }

  /** Shards that it believes it owns; it may be wrong. */
  get owned(): readonly number[] {
    const { node } = this.#serving ?? {}
    if (node === undefined || this.process.state === 'ended') return []
    return Array.from({ length: shards }, (_, shard) => shard)
      .filter((shard) => node.ownership.ownerOf(shard)?.member.id === this.self.id)
  }

  /** True if it owns shards and keeps them. */
  get serving(): boolean {
    return !this.#isLeaving && this.owned.length > 0
  }

  /** Calls `fn` when the next row of the table is on a quorum, before the member knows it. */
  onceWritten(fn: () => void, table: WrittenTable = 'log'): void {
    this.#onceWritten.set(table, fn)
  }

  /** A planned end, as after SIGTERM. */
  async leave(): Promise<void> {
    const { process } = this
    if (this.#serving === undefined) return process.end()
    this.#isLeaving = true
    const { backend, actors } = this.#serving
    process.after(slackMs, () => process.end())
    const deadline = new AbortController()
    process.after(slackMs / 2, () => deadline.abort())
    await backend.giveBack()
    await actors.close(deadline.signal)
    await backend.close(deadline.signal)
    process.end()
  }

  async #start(): Promise<void> {
    const { process } = this
    try {
      this.#serving = await this.#open()
      process.world.note(() => `${process.name} serves the shards ${this.owned}`)
    } catch (error) {
      process.world.note(() => `${process.name} does not start: ${String(error)}`)
      process.end()
    }
  }

  async #open(): Promise<Serving> {
    const { process, outside, egress } = this.#options
    const { env } = process
    const store = await this.#store()
    const node = await this.#join(store)
    const backend = servedBackend({ store, node, env, place: 'a simulation',
      lookAtTheClock: () => Promise.resolve(), spans: noSpans })
    const reads = new ReadQuota(env)
    const quarantine = new Quarantine(env)
    quarantine.open()
    const graphs = graphsOf(process, outside)
    const actors = openActors(backend, { env, host: graphs, reads, quarantine, egress,
      keysOfRuns: { runKeys: new RunKeys(env), forAll: false }, rows: [], billing: true,
      quotas: unlimited, ruleEngine: () => undefined, deletionEngine: () => undefined,
      experimentEngine: () => undefined, assistantDefaults: new Map(), agentTools: new Set(),
      itemSettings: () => ({ ttlMs: 0, refreshOnRead: true }) })
    const door = await process.world.hold(
      openServingDoor({ process, backend, actors, graphs, reads, egress }),
    )
    await backend.begin({ ...actors, services: [activityService(actors.activations)],
      recentOf: (question) => actors.limits.recent(question), releaseMs })
    return { node, backend, actors, door }
  }

  #store(): Promise<CassandraStore> {
    const { process: { env }, process, cassandra } = this.#options
    return storeInKeyspace({
      connection: connectionWithout(undefined, simulatedConnection(process, cassandra),
        ({ table }) => this.#rowWritten(table)),
      env,
      commit: 'validate',
      cache: new RowCache(logCacheBytes),
      former: undefined,
      settings: { shards, buckets: 1, secret: 'simulated' },
      openIndex: async (tables) =>
        new LocalIndex({ store: openInlineScratch(env, shards), tables, env }),
    })
  }

  #rowWritten(table: WrittenTable | undefined): Promise<void> | undefined {
    const notify = table && this.#onceWritten.get(table)
    if (notify === undefined) return undefined
    this.#onceWritten.delete(table!)
    notify()
    return pause(this.process.env, 0)
  }

  async #join(store: CassandraStore): Promise<ClusterNode> {
    const { process, ways, lives } = this.#options
    const { env, world } = process
    const { self } = this
    const session = await openSession({ env, self, sessions: store.sessions, onFenced: (reason) => {
      world.note(() => `${process.name} ends: ${reason}`)
      process.after(world.chance.between(0, 40), () => process.end())
    } })
    return clusterNodeOver({ env, owns: true, sessions: store.sessions,
      shardOwners: store.shardOwners, heartbeats: store.heartbeats, shards }, {
      self,
      session,
      transport: memberTransport({ process, ways, kinds }),
      probe: () => lives,
      server: {
        serve: (inbound) => {
          this.#entrance.inbound = inbound
        },
        belongs: () => {},
        close: async () => {
          this.#entrance.inbound = undefined
        },
      },
    })
  }
}

const noSpans = { open: () => Promise.reject(new HeddleError('unsupported')) } as never
