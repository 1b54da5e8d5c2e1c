/**
 * A simulated cluster for a seed: members that take over from each other, clients that ask them,
 * a store of three replicas, everything that goes wrong, and a checker that listens.
 */

import { HeddleError } from '../../src/errors.ts'
import { SimulatedCassandra } from './cassandra.ts'
import { Checker } from './checker.ts'
import type { Asked, Finding } from './checker.ts'
import { once } from './network.ts'
import { unleash } from './faults.ts'
import type { FaultName } from './faults.ts'
import type { Command } from './list-actor.ts'
import { Member } from './member.ts'
import { Process } from './process.ts'
import type { Rule } from './rule.ts'
import { World } from './world.ts'

export interface SimulationOptions {
  readonly seed: number
  /** What is taken away. */
  readonly without?: Rule
  /** What goes wrong most; a matter of the seed unless told. */
  readonly favourite?: FaultName
  readonly tracing?: boolean
}

export interface Outcome {
  readonly options: SimulationOptions
  readonly findings: readonly Finding[]
  readonly acknowledged: number
  readonly reads: number
  /** How many members ever served. */
  readonly owners: number
  readonly trace: readonly string[]
}

/** What is read of a list when all is over. */
interface Ending {
  readonly list: string
  items: unknown
  rows: unknown
}

const hurtMs = 8_000
const healMs = 60_000
const slots = 3
const lists = ['a', 'b', 'c']
const clients = 10
/** A client that hears nothing for so long asks for something else. */
const patienceMs = 1_500

export async function simulate(options: SimulationOptions): Promise<Outcome> {
  return new Simulation(options).run()
}

class Simulation {
  readonly #options: SimulationOptions
  readonly #world: World
  readonly #cassandra: SimulatedCassandra
  readonly #checker = new Checker()
  readonly #bucketBytes: number
  readonly #lies: number
  #distrustUntilMs = 0
  /** Shares of what clients ask for, and of questions to an owner of former times. */
  readonly #reads: number
  readonly #astray: number
  /** How many appends a client may send at once. */
  readonly #burst: number
  #members: Member[] = []
  /** The one that began to serve last, and the one before it: clients may ask either. */
  #owners: Member[] = []
  #served = 0
  #names = 0
  #items = 0
  #hurting = true

  constructor(options: SimulationOptions) {
    const { seed, without, tracing } = options
    this.#options = options
    this.#world = new World(seed, tracing)
    this.#cassandra = new SimulatedCassandra(this.#world, {
      readRepair: without !== 'read_repair', fenceOnQuorum: without !== 'fence_quorum',
    })
    const { chance } = this.#world
    this.#bucketBytes = chance.pick([600, 2_500, 8 * 1024 * 1024])
    this.#lies = chance.pick([0, 0.05, 0.4])
    this.#reads = chance.pick([0.1, 0.3, 0.7])
    this.#astray = chance.pick([0.05, 0.25, 0.5])
    this.#burst = chance.pick([1, 4, 12])
  }

  async run(): Promise<Outcome> {
    const world = this.#world
    const { chance } = world
    for (let slot = 0; slot < slots; slot++) {
      world.wakeAfter(slot * chance.between(0, 400), () => this.#start(slot))
    }
    for (let client = 0; client < clients; client++) this.#think(client)
    unleash({
      world, network: this.#cassandra.network, favourite: this.#options.favourite,
      members: () => this.#members.filter(({ process }) => process.state !== 'ended'),
      distrust: (ms) => { this.#distrustUntilMs = world.nowMs + ms },
    }, hurtMs)
    await world.run(() => world.nowMs >= hurtMs, hurtMs)
    await this.#end()
    const { findings, acknowledged, reads } = this.#checker
    const { trace } = world
    return { options: this.#options, findings, acknowledged, reads, owners: this.#served, trace }
  }

  /** What stands when everything is well again. */
  async #end(): Promise<void> {
    const world = this.#world
    this.#hurting = false
    world.note(() => 'all is well again')
    for (const { process } of this.#members) process.end()
    this.#cassandra.network.heal()
    const last = this.#newMember(0, async () => false)
    const asked = lists.map((list): Ending => ({ list, items: undefined, rows: undefined }))
    const over = () => asked.every(({ rows }) => rows !== undefined)
    const askAll = () => last.process.after(20, () => {
      if (!last.serving) return void askAll()
      for (const each of asked) void this.#final(last, each)
    })
    askAll()
    const ended = await world.run(over, world.nowMs + healMs)
    if (!ended) return this.#checker.fail('stuck', 'nobody answers although all is well')
    for (const { list, items, rows } of asked) {
      this.#checker.end(list, items as string[], rows as string[])
    }
  }

  async #final(last: Member, each: Ending): Promise<void> {
    const { list } = each
    const ask = (command: Command) => askAgain(last, list, command)
    try {
      each.items = await ask({ type: 'read' })
      for (const item of this.#checker.knownIn(list).slice(-8)) {
        const found = await ask({ type: 'find', item })
        this.#checker.found(this.#checker.ask(list), item, found as number)
      }
      each.rows = await ask({ type: 'history' })
    } catch (error) {
      this.#checker.fail('failed', `${list} cannot be read in the end: ${String(error)}`)
      each.rows = []
      each.items ??= []
    }
  }

  #newMember(slot: number, probe: (other: { id: string }) => Promise<boolean>): Member {
    const process = new Process(this.#world, `m${++this.#names}`)
    const member = new Member({
      process, cassandra: this.#cassandra, address: `slot-${slot}`, probe,
      bucketBytes: this.#bucketBytes, without: this.#options.without,
    })
    this.#members = [...this.#members.filter((each) => each.process.state !== 'ended'), member]
    return member
  }

  /** Starts a member in this slot, and another one when it has ended. */
  #start(slot: number): void {
    const world = this.#world
    const member: Member = this.#newMember(slot, (other) => this.#probe(member, other.id))
    let known = false
    const watch = () => {
      if (!this.#hurting) return
      if (member.serving && !known) {
        known = true
        this.#served++
        this.#owners = [member, ...this.#owners.slice(0, 2)]
      }
      if (member.process.state !== 'ended') return void world.after(10, watch)
      world.wakeAfter(world.chance.between(20, 500), () => {
        if (this.#hurting) this.#start(slot)
      })
    }
    watch()
  }

  /** Whether a member answers; sometimes it is thought dead and is not. */
  #probe({ process }: Member, id: string): Promise<boolean> {
    const { chance } = this.#world
    return new Promise((resolve) => {
      const other = this.#members.find(({ self }) => self.id === id)
      const distrusted = chance.flip(this.#lies) || this.#world.nowMs < this.#distrustUntilMs
      const lives = other?.process.state === 'running' && !distrusted
      const silent = other?.process.state === 'stopped'
      process.after(silent ? 300 : chance.between(0.5, 3), () => resolve(lives))
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

  /** Mostly whoever serves by the newest that is known. */
  #target(): Member | undefined {
    const { chance } = this.#world
    const owners = this.#owners.filter(({ serving }) => serving)
    return chance.flip(this.#astray) ? chance.pick(owners) : owners[0]
  }

  #ask(client: number, member: Member): void {
    const world = this.#world
    const { chance } = world
    const list = chance.pick(lists)
    const end = once(() => this.#think(client))
    world.wakeAfter(patienceMs, end)
    const command = this.#command(list)
    this.#send(member, list, command, end)
    if (command.type !== 'append' || !chance.flip(0.4)) return
    for (let more = 1; more < this.#burst; more++) {
      world.wakeAfter(more * chance.between(0.5, 1.5), () =>
        this.#send(member, list, { type: 'append', item: `${list}${++this.#items}` }, () => {}))
    }
  }

  #send({ process, ask }: Member, list: string, command: Command, end: () => void): void {
    const world = this.#world
    const { chance } = world
    const asked = this.#checker.ask(list)
    // What the process says last is on its way when it ends.
    const heard = (hear: () => void) => process.after(chance.between(0, 0.3), () =>
      world.wakeAfter(chance.between(0.1, 2), () => {
        if (this.#hurting) hear()
        end()
      }))
    process.after(chance.between(0.1, 2), () => {
      ask(list, command).then(
        (reply) => heard(() => this.#hear(asked, command, reply)),
        (error: unknown) => heard(() => this.#refuse(asked, command, error)))
    })
  }

  #command(list: string): Command {
    const { chance } = this.#world
    const known = chance.flip(0.15) ? this.#checker.knownIn(list) : []
    if (known.length > 0) return { type: 'find', item: chance.pick(known.slice(-3)) }
    if (chance.flip(this.#reads)) return { type: 'read' }
    return { type: 'append', item: `${list}${++this.#items}` }
  }

  #hear(asked: Asked, command: Command, reply: unknown): void {
    const { list } = asked
    this.#world.note(() => `${list} ${JSON.stringify(command)} → ${shortly(reply)}`)
    if (command.type === 'append') this.#checker.appended(asked, command.item, reply as number)
    if (command.type === 'read') this.#checker.read(asked, reply as string[])
    if (command.type === 'find') this.#checker.found(asked, command.item, reply as number)
  }

  #refuse(asked: Asked, command: Command, error: unknown): void {
    const { code, facts } = HeddleError.from(error)
    this.#world.note(() =>
      `${asked.list} ${JSON.stringify(command)} is refused: ${String(error)}`)
    const nothing = code === 'unavailable' && facts['ambiguous'] !== true
    if (command.type === 'append' && nothing) this.#checker.refused(asked, command.item)
    if (code === 'internal' || code === 'not_found') {
      const { cause } = HeddleError.from(error)
      this.#checker.fail('failed', `${asked.list}: ${String(cause ?? error)}`)
    }
  }
}

/** Until there is an answer: what was on its way may still arrive while all is well. */
async function askAgain(member: Member, list: string, command: Command): Promise<unknown> {
  for (;;) {
    try {
      return await member.ask(list, command)
    } catch (error) {
      if (!(error instanceof HeddleError) || error.retry === 'no' || error.code === 'internal') {
        throw error
      }
    }
    await new Promise<void>((resolve) => void member.process.after(50, resolve))
  }
}

function shortly(reply: unknown): string {
  return Array.isArray(reply) ? `${reply.length} items, the last ${reply.at(-1)}` : String(reply)
}
