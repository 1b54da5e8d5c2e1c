/**
 * A simulated cluster for a seed: members that take over from each other, clients that send
 * requests, a store of three replicas, faults, and a checker of all answers.
 */

import { placeShard } from '../../cluster/shards/placement.ts'
import { HeddleError } from '../../src/errors.ts'
import { SimulatedCassandra } from './cassandra.ts'
import { Checker } from './checker.ts'
import type { Finding } from './checker.ts'
import { CronChecker } from './cron-checker.ts'
import { unleash } from './faults.ts'
import type { FaultName } from './faults.ts'
import { heldCommands } from './held-actor.ts'
import { itemCommands, ItemClients } from './item-clients.ts'
import type { RegisterCommand } from './item-clients.ts'
import type { LifeCommand, Look } from './life-actor.ts'
import { hasLives, LifeClients } from './life-clients.ts'
import type { LifeQuestion } from './life-clients.ts'
import type { Command, History } from './list-actor.ts'
import { Member, shards } from './member.ts'
import { linkOf, once } from './network.ts'
import { Process } from './process.ts'
import { recordCommands } from './record-commands.ts'
import { Remains } from './remains.ts'
import { searchAll } from './searches.ts'
import type { Rule } from './rule.ts'
import { Ways } from './ways.ts'
import { World } from './world.ts'

export interface SimulationOptions {
  readonly seed: number
  /** The rule that is removed. */
  readonly without?: Rule
  /** The most frequent fault; by default the seed decides. */
  readonly favourite?: FaultName
  /** Whether members have crons; by default if a rule of theirs is removed. */
  readonly crons?: boolean
  /** Whether clients search for lists and runs as well. */
  readonly searches?: boolean
  readonly tracing?: boolean
  /** Whether clients use items instead of lists. */
  readonly items?: boolean
  /** Whether clients use records of a catalog instead of lists. */
  readonly records?: boolean
  /** Whether clients use values that are kept back instead of lists. */
  readonly held?: boolean
}

export interface Outcome {
  readonly options: SimulationOptions
  readonly findings: readonly Finding[]
  readonly acknowledged: number
  readonly reads: number
  readonly removals: number
  readonly copies: number
  /** Runs of crons. */
  readonly fired: number
  /** How many members ever served. */
  readonly owners: number
  /** How many were killed between two of the rows of a change, by the fault `between`. */
  readonly killedBetween: number
  readonly trace: readonly string[]
}

const hurtMs = 6_000
const healMs = 60_000
const slots = 3
/** How many further members may join, one after the other. */
const joinsMax = 3
/** A member that is silent for this long is taken for dead. */
const silenceMs = 300
const lists = ['a', 'b', 'c']
const clients = 10
/** How often one more cron is asked for. */
const cronsMs = 250
/** By then nodes have received all the changes that they missed. */
const hintsMs = 6_000
/** How often the final state is checked again. */
const againMs = 250
/** A client that gets no answer for this long gives up on the request. */
const patienceMs = 1_500

export async function simulate(options: SimulationOptions): Promise<Outcome> {
  return new Simulation(options).run()
}

/** What a client asks for, and how it learns the outcome. */
interface Question extends Omit<LifeQuestion, 'command'> {
  readonly command: Command | LifeCommand | RegisterCommand
}

class Simulation {
  readonly #options: SimulationOptions
  readonly #world: World
  readonly #cassandra: SimulatedCassandra
  readonly #ways: Ways<Member>
  readonly #checker = new Checker()
  readonly #lifeClients: LifeClients
  readonly #itemClients: ItemClients | undefined
  readonly #crons: CronChecker | undefined
  /** How many of the clients use lists with lives. */
  readonly #lifeShare: number
  /** What is still wrong at the end. */
  #wrong: readonly string[] = []
  readonly #bucketBytes: number
  /** How often a live member is thought dead. */
  #lies: number
  /** Members that all others think dead, and until when. */
  readonly #distrusted = new Map<string, number>()
  /** Share of reads in the requests. */
  readonly #reads: number
  /** How many appends a client may send at once. */
  readonly #burst: number
  #members: Member[] = []
  /** Members that ever owned something. */
  #served = 0
  #killedBetween = 0
  #joined = 0
  #names = 0
  #items = 0
  #hurting = true

  constructor(options: SimulationOptions) {
    const { seed, without, tracing } = options
    this.#options = options
    this.#world = new World(seed, tracing)
    this.#cassandra = new SimulatedCassandra(this.#world, {
      readRepair: without !== 'read_repair',
      fenceOnQuorum: without !== 'fence_quorum',
    })
    this.#ways = new Ways(this.#cassandra.network)
    const { chance } = this.#world
    this.#lifeClients = new LifeClients({ chance, nowMs: () => this.#world.nowMs,
      naming: without !== 'same_life',
      fail: (violation, what) => this.#checker.fail(violation, what) })
    const commands = options.items
      ? itemCommands
      : options.records
      ? recordCommands
      : options.held
      ? heldCommands
      : undefined
    this.#itemClients = commands
      ? new ItemClients({ commands, chance, nowMs: () => this.#world.nowMs,
        fail: (violation, what) => this.#checker.fail(violation, what) })
      : undefined
    const hasCrons = options.crons ?? without === 'due_run_id'
    this.#crons = !hasCrons ? undefined : new CronChecker({
      ask: (id, command) => this.#target()?.askCron(id, command),
      askAgain: (id, command) => this.#again((member) => member.askCron(id, command)),
      runsOf: async (list) => await this.#askAgain(list, { type: 'history' }) as History,
      fail: (violation, what) => this.#checker.fail(violation, what),
    })
    this.#lifeShare = chance.pick([0, 0.5, 0.8])
    this.#bucketBytes = chance.pick([600, 2_500, 8 * 1024 * 1024])
    this.#lies = chance.pick([0, 0.01, 0.1])
    this.#reads = chance.pick([0.1, 0.3, 0.7])
    this.#burst = chance.pick([1, 4, 12])
  }

  async run(): Promise<Outcome> {
    const world = this.#world
    const { chance } = world
    for (let slot = 0; slot < slots; slot++) {
      world.wakeAfter(slot * chance.between(0, 400), () => this.#start(slot))
    }
    for (let client = 0; client < clients; client++) this.#think(client)
    this.#makeCrons()
    unleash({
      world,
      network: this.#cassandra.network,
      favourite: this.#options.favourite,
      members: () => this.#living(),
      join: () => this.#join(),
      killedBetween: () => void this.#killedBetween++,
      distrust: ({ self }, ms) => void this.#distrusted.set(self.id, world.nowMs + ms),
    }, hurtMs)
    await world.run(() => world.nowMs >= hurtMs, hurtMs)
    await this.#end()
    const { findings } = this.#checker
    const { removals, copied: copies } = this.#lifeClients
    const { writes = 0, reads: gets = 0 } = this.#itemClients ?? {}
    const acknowledged = this.#checker.acknowledged + this.#lifeClients.acknowledged + writes
    const reads = this.#checker.reads + this.#lifeClients.looks + gets
    return { options: this.#options, findings, acknowledged, reads, removals, copies,
      fired: this.#crons?.fired ?? 0, owners: this.#served, trace: world.trace,
      killedBetween: this.#killedBetween }
  }

  /** Checks the final state once all faults have ended. */
  async #end(): Promise<void> {
    const world = this.#world
    this.#hurting = false
    world.note(() => 'all is well again')
    this.#cassandra.network.heal()
    this.#distrusted.clear()
    this.#lies = 0
    const allDie = world.chance.flip(0.5)
    for (const { process } of this.#living()) {
      if (allDie) process.end()
      else process.resume()
    }
    let settled = false
    let ended = 0
    const watch = () =>
      world.wakeAfter(50, () => {
        if (this.#living().length === 0) this.#newMember(0)
        watch()
        if (settled || !this.#settled()) return
        settled = true
        for (const list of lists)
          void this.#final(list).finally(() => {
            ended++
          })
        void this.#finalLives().finally(() => {
          ended++
        })
        void this.#finalCrons().finally(() => {
          ended++
        })
      })
    watch()
    if (await world.run(() => ended === lists.length + 2, world.nowMs + healMs)) return
    for (const what of this.#wrong) this.#checker.fail('remains', what)
    if (this.#wrong.length > 0) return
    this.#checker.fail('stuck', settled
      ? 'nobody answers although all is well'
      : 'shards are not where they are placed although all is well')
  }

  /** Makes crons from time to time, while faults happen. */
  #makeCrons(): void {
    const crons = this.#crons
    if (crons === undefined || !this.#hurting) return
    void crons.make()
    this.#world.wakeAfter(cronsMs, () => this.#makeCrons())
  }

  async #finalCrons(): Promise<void> {
    try {
      await this.#crons?.end()
    } catch (error) {
      this.#checker.fail('failed', `crons cannot be read in the end: ${String(error)}`)
    }
  }

  async #final(list: string): Promise<void> {
    try {
      for (const item of this.#checker.knownIn(list).slice(-8)) {
        const found = await this.#askAgain(list, { type: 'find', item })
        this.#checker.found(this.#checker.ask(list), item, found as number)
      }
      const { items, rows } = await this.#askAgain(list, { type: 'history' }) as History
      this.#checker.end(list, items, rows)
    } catch (error) {
      this.#checker.fail('failed', `${list} cannot be read in the end: ${String(error)}`)
    }
  }

  /** Checks lists with lives: leftovers of removals are purged some time after the last fault. */
  async #finalLives(): Promise<void> {
    const world = this.#world
    for (const item of this.#itemClients?.items ?? []) {
      const { command, hear } = this.#itemClients!.get(item)
      hear(await this.#askAgain(item, command))
    }
    const { lists: asked } = this.#lifeClients
    if (asked.length > 0) await this.#pause(hintsMs)
    do {
      const began = world.nowMs
      const looks = await Promise.all(asked.map((list) => this.#finalLook(list)))
      const remains = new Remains(this.#cassandra)
      this.#wrong = looks.flatMap((look, i) =>
        this.#lifeClients.end(asked[i]!, look, began, remains) ?? []
      )
      if (this.#wrong.length > 0) await this.#pause(againMs)
    } while (this.#wrong.length > 0)
  }

  async #finalLook(list: string): Promise<Look> {
    for (;;) {
      try {
        return await this.#askAgain(list, { type: 'look' }) as Look
      } catch (error) {
        // It coincided with a copy, requested earlier, of a list that is gone.
        if (HeddleError.from(error).code === 'not_found') continue
        this.#checker.fail('failed', `${list} cannot be looked at in the end: ${String(error)}`)
        return new Promise(() => {})
      }
    }
  }

  /** Asks any member until one answers: late messages may still arrive after the last fault. */
  #askAgain(list: string, command: Command | LifeCommand | RegisterCommand): Promise<unknown> {
    return this.#again((member) => member.ask(list, command))
  }

  async #again(ask: (member: Member) => Promise<unknown>): Promise<unknown> {
    const world = this.#world
    for (;;) {
      const { promise: late, resolve } = Promise.withResolvers<undefined>()
      const member = this.#target()
      const answer = member && ask(member).catch((error: unknown) => {
        const { retry, code, outcome } = HeddleError.from(error)
        if (retry === 'no' || (code === 'internal' && outcome === 'not_done')) throw error
      })
      const cancel = world.wakeAfter(patienceMs, () => resolve(undefined))
      const reply = await Promise.race([answer ?? late, late])
      cancel()
      if (reply !== undefined) return reply
      await this.#pause(50)
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((done) => void this.#world.wakeAfter(ms, done))
  }

  #living(): readonly Member[] {
    return this.#members.filter(({ process }) => process.state !== 'ended')
  }

  /** Whether every shard is owned by the member that should own it. */
  #settled(): boolean {
    const living = this.#living()
    const names = living.map(({ self }) => self)
    return living.length > 0 && Array.from({ length: shards }, (_, shard) => shard)
      .every((shard) => {
        const place = placeShard(shard, names)
        const owners = living.filter(({ owned }) => owned.includes(shard))
        return owners.length === 1 && owners[0]!.self.id === place.id
      })
  }

  #newMember(slot: number): Member {
    const process = new Process(this.#world, `m${++this.#names}`)
    const member: Member = new Member({
      process,
      cassandra: this.#cassandra,
      ways: this.#ways,
      address: `slot-${slot}`,
      lives: (other) => this.#lives(member, other.id),
      bucketBytes: this.#bucketBytes,
      without: this.#options.without,
      items: this.#options.items === true,
      searches: this.#options.searches === true,
      crons: this.#crons !== undefined,
      spareRows: [1, 20, 1_000][this.#options.seed % 3]!,
    })
    this.#members = [...this.#members.filter((each) => each.process.state !== 'ended'), member]
    return member
  }

  /** Starts a member in this slot, and another one when it has ended. */
  #start(slot: number): void {
    const world = this.#world
    const member = this.#newMember(slot)
    let known = false
    const watch = () => {
      if (!this.#hurting) return
      if (!known && member.serving) {
        known = true
        this.#served++
      }
      if (member.process.state !== 'ended') return void world.after(10, watch)
      world.wakeAfter(world.chance.between(20, 500), () => {
        if (this.#hurting) this.#start(slot)
      })
    }
    watch()
  }

  #join(): void {
    if (this.#joined++ < joinsMax) this.#start(slots + this.#joined)
  }

  /** Whether a member answers; sometimes a live one is thought dead. */
  #lives({ process }: Member, id: string): Promise<boolean> {
    const { chance, nowMs } = this.#world
    const { network } = this.#cassandra
    return new Promise((resolve) => {
      const other = this.#living().find(({ self }) => self.id === id)?.process
      const parted = other !== undefined && network.cut.has(linkOf(process.name, other.name))
      const distrusted = chance.flip(this.#lies) || nowMs < (this.#distrusted.get(id) ?? 0)
      const lives = other?.state === 'running' && !distrusted && !parted
      const silent = parted || other?.state === 'stopped'
      process.after(silent ? silenceMs : chance.between(0.5, 3), () => resolve(lives))
    })
  }

  #think(client: number): void {
    const { chance } = this.#world
    this.#world.wakeAfter(chance.between(1, 80), () => {
      if (!this.#hurting) return
      const target = this.#target()
      if (target === undefined) return this.#think(client)
      this.#ask(client, target)
    })
  }

  /** Any member: each finds the owner. */
  #target(): Member | undefined {
    const { chance } = this.#world
    const members = this.#living().filter(({ listening }) => listening)
    return members.length === 0 ? undefined : chance.pick(members)
  }

  #ask(client: number, member: Member): void {
    const world = this.#world
    const { chance } = world
    const end = once(() => this.#think(client))
    world.wakeAfter(patienceMs, end)
    if (this.#itemClients) return this.#send(member, this.#itemClients.ask(), end)
    if (client < this.#lifeShare * clients) {
      const question = this.#lifeClients.ask()
      this.#search(question.list)
      return this.#send(member, question, end)
    }
    const list = chance.pick(lists)
    this.#search(list)
    const command = this.#command(list)
    this.#send(member, this.#question(list, command), end)
    if (command.type !== 'append' || !chance.flip(0.4)) return
    for (let more = 1; more < this.#burst; more++) {
      world.wakeAfter(more * chance.between(0.5, 1.5), () =>
        this.#send(member,
          this.#question(list, { type: 'append', item: `${list}${++this.#items}` }), () => {}))
    }
  }

  #send({ process, ask }: Member, question: Question, end: () => void): void {
    const world = this.#world
    const [{ chance }, { list, command }] = [world, question]
    const answer = async () => {
      const reply = await ask(list, command)
      const next = question.next?.(reply)
      return next === undefined ? reply : await ask(list, next)
    }
    // The last answers of a process are still on their way when it ends.
    const received = (hear: () => void) =>
      process.after(chance.between(0, 0.3), () =>
        world.wakeAfter(chance.between(0.1, 2), () => {
          if (this.#hurting) hear()
          end()
        }))
    process.after(chance.between(0.1, 2), () => {
      answer().then((reply) =>
        received(() => {
          world.note(() => `${list} ${JSON.stringify(command)} → ${shortly(reply)}`)
          question.hear(reply)
        }), (error: unknown) => received(() => this.#refuse(question, error)))
    })
  }

  #search(list: string): void {
    if (!this.#options.searches) return
    searchAll({ list, members: this.#living(), checker: this.#checker, clients: this.#lifeClients,
      isHurting: () => this.#hurting })
  }

  #command(list: string): Command {
    const { chance } = this.#world
    const known = chance.flip(0.15) ? this.#checker.knownIn(list) : []
    if (known.length > 0) return { type: 'find', item: chance.pick(known.slice(-3)) }
    if (chance.flip(this.#reads)) return { type: 'read' }
    return { type: 'append', item: `${list}${++this.#items}` }
  }

  #question(list: string, command: Command): Question {
    const asked = this.#checker.ask(list)
    return {
      list,
      command,
      hear: (reply) => {
        if (command.type === 'append') this.#checker.appended(asked, command.item, reply as number)
        if (command.type === 'read') this.#checker.read(asked, reply as string[])
        if (command.type === 'find') this.#checker.found(asked, command.item, reply as number)
      },
      refuse: () => {
        if (command.type === 'append') this.#checker.refused(asked, command.item)
      },
    }
  }

  #refuse({ list, command, refuse }: Question, error: unknown): void {
    const { code, outcome, cause } = HeddleError.from(error)
    this.#world.note(() => `${list} ${JSON.stringify(command)} is refused: ${String(error)}`)
    if (code === 'unavailable' && outcome === 'not_done') refuse()
    const isNobodysRight = (code === 'internal' && outcome === 'not_done') ||
      (code === 'not_found' && !hasLives(list))
    if (isNobodysRight) this.#checker.fail('failed', `${list}: ${String(cause ?? error)}`)
  }
}

function shortly(reply: unknown): string {
  if (Array.isArray(reply)) return `${reply.length} items, the last ${reply.at(-1)}`
  return JSON.stringify(reply)
}
