/**
 * A simulated cluster that serves: members with all parts of a server over a simulated Cassandra,
 * clients that draw the operations of the verification, faults, and the history of all calls.
 */

import { checkHistory } from '../../../verify/checker/check.ts'
import { indexHistory } from '../../../verify/checker/history-index.ts'
import { findUndelivered } from '../../../verify/checker/run-rules.ts'
import type { Violation } from '../../../verify/checker/violation.ts'
import { History } from '../../../verify/history/history.ts'
import { readEverything } from '../../../verify/round.ts'
import { drawOperation, offeredOperations } from '../../../verify/workload/operations.ts'
import { Session } from '../../../verify/workload/session.ts'
import { createThread } from '../../../verify/workload/thread-operations.ts'
import { SimulatedCassandra } from '../cassandra.ts'
import { Chance } from '../chance.ts'
import { unleash } from '../faults.ts'
import { linkOf } from '../network.ts'
import { Process } from '../process.ts'
import { Ways } from '../ways.ts'
import { World } from '../world.ts'
import { clientFetch } from './client-network.ts'
import type { MemberEntrance } from './member-transport.ts'
import { Outside, receiverUrl } from './outside.ts'
import { ServingMember } from './serving-member.ts'

export interface ServingOptions {
  readonly seed: number
  /** Number of operations that clients start. */
  readonly operations: number
  readonly tracing?: boolean
}

export interface ServingOutcome {
  readonly options: ServingOptions
  readonly history: History
  readonly violations: readonly Violation[]
  readonly trace: readonly string[]
}

const slots = 3
const clients = 8
/** Mean pause of a client between two operations, which depends on the seed. */
const thinkingMs = [5, 40, 150] as const
/** How often a client looks for a front door that responds. */
const doorMs = 100
/** A member that is silent for this long is taken for dead. */
const silenceMs = 300
/** Time for open calls, for unfinished runs, and for webhooks to end when no fault happens. */
const calmMs = 120_000
const lastReader = -1
/** Operations of parts that members lack here, and those that need clocks which are right. */
const leftOut = new RegExp(
  ['^(project|span|trace|feedback|foreign|deploy|revision|cron|mortal)\\.',
    '^(example|prompt|queue|share)\\.', '^(wrong\\.)?(a2a|mcp)\\.', '^v2\\.(events|socket)$',
    '^task\\.draft$'].join('|'),
)

/** A small world that loads all modules first: loading takes turns of Node's loop. */
let warm: Promise<unknown> | undefined
const warmUp = { seed: 0, operations: 30 }

/** Simulates the world of a seed, and checks its history. */
export async function simulateServing(options: ServingOptions): Promise<ServingOutcome> {
  await (warm ??= new ServingWorld(warmUp).live())
  return await new ServingWorld(options).live()
}

class ServingWorld {
  readonly #options: ServingOptions
  readonly #world: World
  readonly #cassandra: SimulatedCassandra
  readonly #ways: Ways<MemberEntrance>
  readonly #history: History
  readonly #outside: Outside
  readonly #session: Session
  readonly #members = new Map<string, ServingMember>()
  readonly #distrusted = new Map<string, number>()
  readonly #thinkMs: number
  readonly #cutShare: number
  #names = 0
  #started = 0
  #isLoaded = true
  #openClients = clients

  constructor(options: ServingOptions) {
    this.#options = options
    const world = this.#world = new World(options.seed, options.tracing)
    this.#cassandra = new SimulatedCassandra(world, { readRepair: true, fenceOnQuorum: true })
    this.#ways = new Ways(this.#cassandra.network)
    this.#history = new History(() => world.nowMs)
    this.#outside = new Outside(world, this.#history)
    this.#thinkMs = world.chance.pick(thinkingMs)
    this.#cutShare = world.chance.pick([0, 0.02])
    this.#session = new Session({
      urls: Array.from({ length: slots }, (_, slot) => `http://slot-${slot}`),
      missing: leftOut,
      receiverUrl,
      name: String(options.seed),
      history: this.#history,
      fetch: clientFetch({ world, memberAt: (host) => this.#members.get(host),
        cutShare: () => this.#isLoaded ? this.#cutShare : 0 }),
    })
  }

  async live(): Promise<ServingOutcome> {
    const world = this.#world
    for (let slot = 0; slot < slots; slot++) {
      world.wakeAfter(slot * world.chance.between(0, 400), () => this.#start(`slot-${slot}`))
    }
    await world.run(() => [...this.#members.values()].some(({ door }) => door), calmMs)
    await this.#load()
    await this.#until(this.#quiet())
    return { options: this.#options, history: this.#history, trace: world.trace,
      violations: checkHistory(this.#history.entries) }
  }

  async #load(): Promise<void> {
    const world = this.#world
    const startMs = this.#history.nowMs()
    unleash({
      world,
      network: this.#cassandra.network,
      // Between two rows of a change, which no other fault hits often.
      favourite: world.chance.flip(0.3) ? world.chance.pick(['lapse', 'between']) : undefined,
      members: () => this.#living(),
      join: () => {},
      killedBetween: () => {},
      distrust: ({ self }, ms) => void this.#distrusted.set(self.id, world.nowMs + ms),
      pausesMs: [700, 2_500, 10_000],
      isOver: () => !this.#isLoaded,
    }, Infinity)
    for (let number = 0; number < clients; number++) void this.#runClient(number)
    await world.run(() => this.#started >= this.#options.operations, Infinity)
    this.#isLoaded = false
    world.note(() => 'all is well again')
    this.#cassandra.network.heal()
    this.#distrusted.clear()
    for (const { process } of this.#living()) process.resume()
    await world.run(() => this.#openClients === 0, world.nowMs + calmMs)
    this.#history.add({ type: 'fault', name: 'all', startMs, endMs: this.#history.nowMs() })
  }

  /** Waits until no run is unfinished, and reads everything. */
  async #quiet(): Promise<void> {
    const { signal } = new AbortController()
    const untilMs = this.#world.nowMs + calmMs
    while (this.#world.nowMs < untilMs && !await this.#isIdle(signal)) await this.#pause(200)
    this.#history.add({ type: 'quiet', atMs: this.#history.nowMs() })
    await readEverything(this.#session, signal)
    const { entries } = this.#history
    while (this.#world.nowMs < untilMs && findUndelivered(indexHistory(entries)).length > 0) {
      await this.#pause(500)
    }
  }

  async #isIdle(signal: AbortSignal): Promise<boolean> {
    const { status, response } = await this.#session.call(lastReader, {
      operation: 'thread.search',
      method: 'POST',
      path: '/threads/search',
      body: { metadata: { verify: this.#session.name }, status: 'busy', limit: 1 },
    }, signal)
    return status === 200 && (response as unknown[]).length === 0
  }

  /** Lets the world go on until the work is done. */
  async #until(work: Promise<void>): Promise<void> {
    let isDone = false
    let failure: unknown
    work.catch((error: unknown) => {
      failure = error
    }).finally(() => {
      isDone = true
    })
    await this.#world.run(() => isDone, this.#world.nowMs + 4 * calmMs)
    if (failure !== undefined) throw failure as Error
    if (!isDone) throw new Error(`Seed ${this.#options.seed}: the last reads do not end.`)
  }

  async #runClient(number: number): Promise<void> {
    const session = this.#session
    const { signal } = new AbortController()
    const client = { number, chance: new Chance(this.#options.seed * 1_000 + number), signal }
    const offered = offeredOperations(session)
    while (this.#isLoaded) {
      await this.#pause(client.chance.between(0, 2 * this.#thinkMs))
      if (!this.#isLoaded) break
      this.#started++
      const before = this.#history.entries.length
      if (session.needsThread()) await createThread(session, client)
      if (session.threads.length > 0) {
        const thread = client.chance.pick(session.threads)
        await drawOperation(offered, client.chance).execute({ session, client, thread })
      }
      const last = this.#history.entries.slice(before)
        .findLast((entry) => entry.type === 'call' && entry.client === number)
      if (last?.type !== 'call' || last.status !== undefined) continue
      do {
        session.changeDoor(number)
        await this.#pause(doorMs)
      } while (this.#isLoaded && !await session.isServed(number))
    }
    this.#openClients--
  }

  #living(): ServingMember[] {
    return [...this.#members.values()].filter(({ process }) => process.state !== 'ended')
  }

  /** Starts a member in the slot, and another one after it has ended. */
  #start(slot: string): void {
    const world = this.#world
    const process = new Process(world, `m${++this.#names}`)
    const member: ServingMember = new ServingMember({
      process,
      cassandra: this.#cassandra,
      ways: this.#ways,
      address: slot,
      outside: this.#outside.agentWorld(process),
      egress: this.#outside.egress(process),
      lives: (other) => this.#lives(process, other.id),
    })
    this.#members.set(slot, member)
    const watch = () => {
      if (process.state !== 'ended') return void world.after(10, watch)
      world.wakeAfter(world.chance.between(20, 500), () => this.#start(slot))
    }
    watch()
  }

  /** True if a member responds; a live one may be taken for dead. */
  #lives(from: Process, id: string): Promise<boolean> {
    const { chance, nowMs } = this.#world
    return new Promise((resolve) => {
      const other = this.#living().find(({ self }) => self.id === id)?.process
      const isCut = other !== undefined &&
        this.#cassandra.network.cut.has(linkOf(from.name, other.name))
      const isDistrusted = nowMs < (this.#distrusted.get(id) ?? 0)
      const lives = other?.state === 'running' && !isDistrusted && !isCut
      const isSilent = isCut || other?.state === 'stopped'
      from.after(isSilent ? silenceMs : chance.between(0.5, 3), () => resolve(lives))
    })
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.#world.wakeAfter(ms, resolve))
  }
}
