/** What goes wrong in a world, and how often; both depend on the seed. */

import type { Member } from './member.ts'
import { linkOf, nodeNumbers } from './network.ts'
import type { Network } from './network.ts'
import type { World } from './world.ts'

/** A member that faults can happen to. */
export type FaultyMember =
  & Pick<Member, 'process' | 'self' | 'serving' | 'onceWritten' | 'leave'>
  & {
    /** Gives everything back and lives on for a while. Undefined if it only leaves. */
    giveBack?(): Promise<void>
  }

export interface FaultTargets {
  readonly world: World
  readonly network: Network
  /** Members whose process has not ended. */
  members(): readonly FaultyMember[]
  /** All others think this member dead for this long. */
  distrust(member: FaultyMember, ms: number): void
  /** A member was killed between two of the rows of a change. */
  killedBetween(): void
  /** Starts one more member. */
  join(): void
  /** The most frequent fault; by default the seed decides. */
  readonly favourite: FaultName | undefined
  /** Mean times between faults, of which the seed chooses one. */
  readonly pausesMs?: readonly number[]
  /** True if no fault happens any more. */
  isOver?(): boolean
}

const faults = {
  tear,
  stop,
  kill,
  isolate,
  part,
  nodeDown,
  storm,
  jump,
  join,
  leave,
  giveBack,
  lapse,
  between,
} as const
export type FaultName = keyof typeof faults
export const faultNames = Object.keys(faults) as FaultName[]

/** Within this time each member probes its neighbours. */
const noticedMs = 900

/** Lets faults happen until `untilMs`. */
export function unleash(targets: FaultTargets, untilMs: number): void {
  const { world } = targets
  const { chance } = world
  // Some seeds have only a few kinds of faults, so that those are seen in isolation.
  const favoured = chance.flip(0.4)
    ? chance.pick(['tear', 'tear', 'stop', 'isolate', 'storm', 'join', 'giveBack'] as const)
    : undefined
  const favourite = targets.favourite ?? favoured
  const tempers = faultNames.map((name) => ({ name, weight: name === favourite
    ? 8
    : name === 'lapse' || name === 'between' || chance.flip(0.35)
    ? 0
    : chance.number() })
  )
  const sum = tempers.reduce((total, { weight }) => total + weight, 0)
  const pauseMs = chance.pick(targets.pausesMs ?? [150, 400, 1_000])
  const { climate, weather } = targets.network
  Object.assign(climate, {
    loss: chance.pick([0, 0.005, 0.03]),
    slow: chance.pick([0, 0.05, 0.2]),
    slowestMs: chance.pick([20, 100, 600]),
  })
  Object.assign(weather, climate)
  const next = () => {
    world.wakeAfter(chance.between(0.2, 1.8) * pauseMs, () => {
      if (world.nowMs > untilMs || targets.isOver?.()) return
      let at = chance.number() * sum
      const fault = tempers.find(({ weight }) => (at -= weight) < 0)
      if (fault) faults[fault.name](targets)
      next()
    })
  }
  next()
}

/** SIGSTOP, and SIGCONT after a while. */
function stop({ world, network, members }: FaultTargets): void {
  const { chance } = world
  const member = pickMember(world, members())
  if (!member) return
  const ms = chance.pick([20, 100, 400, 1_500, 4_000]) * chance.between(0.5, 1.5)
  halt(world, member, ms)
  if (!chance.flip(0.5)) return
  // Makes its requests slow when it continues.
  const node = chance.pick(nodeNumbers)
  network.down.add(node)
  world.after(ms + 100, () => network.down.delete(node))
}

/** SIGSTOP after a row of the log and before the mutable rows for it; only as favourite. */
function lapse({ world, members }: FaultTargets): void {
  const { chance } = world
  const member = pickServing(world, members())
  member?.onceWritten(() => halt(world, member, chance.pick([400, 1_500, 4_000])))
}

/** SIGKILL between two of the rows that a change writes; only as favourite. */
function between({ world, members, killedBetween }: FaultTargets): void {
  const member = pickServing(world, members())
  const table = world.chance.pick(['log', 'run', 'thread_row'] as const)
  member?.onceWritten(() => {
    world.note(() => `${member.process.name} is killed when a row is in the table ${table}`)
    killedBetween()
    member.process.end()
  }, table)
}

function halt(world: World, member: FaultyMember, ms: number): void {
  world.note(() => `${member.process.name} is stopped for ${Math.round(ms)} ms`)
  member.process.stop()
  world.wakeAfter(ms, () => member.process.resume())
}

/** SIGKILL. */
function kill({ world, members }: FaultTargets): void {
  const member = pickMember(world, members())
  if (!member) return
  world.note(() => `${member.process.name} is killed`)
  member.process.end()
}

/** A member does not reach some of the nodes. */
function isolate({ world, network, members, distrust }: FaultTargets): void {
  const { chance } = world
  const member = pickMember(world, members())
  if (!member) return
  const nodes = chance.shuffled(nodeNumbers).slice(0, 1 + chance.below(3))
  const links = nodes.map((node) => linkOf(member.process.name, node))
  world.note(() => `${member.process.name} does not reach nodes ${nodes}`)
  for (const link of links) network.cut.add(link)
  const ms = chance.between(100, 2_000)
  if (chance.flip(0.5)) distrust(member, ms)
  world.after(ms, () => {
    for (const link of links) network.cut.delete(link)
  })
}

/** Two members do not reach each other, or one reaches none of the others. */
function part({ world, network, members }: FaultTargets): void {
  const { chance } = world
  const [one, ...others] = chance.shuffled(members())
  if (!one || others.length === 0) return
  const parted = chance.flip(0.5) ? others : others.slice(0, 1)
  const names = parted.map(({ process }) => process.name)
  world.note(() => `${one.process.name} and ${names} do not reach each other`)
  const links = names.map((name) => linkOf(one.process.name, name))
  for (const link of links) network.cut.add(link)
  world.after(chance.pick([100, 500, 2_500]) * chance.between(0.5, 1.5), () => {
    for (const link of links) network.cut.delete(link)
  })
}

/**
 * For a moment changes reach only one replica; mostly the member that makes them ends before
 * they reach the others.
 */
function tear({ world, network, members, distrust }: FaultTargets): void {
  const { chance } = world
  const [one, other] = chance.shuffled(nodeNumbers) as [number, number]
  const ms = chance.pick([10, 40, 400]) * chance.between(0.5, 1.5)
  world.note(() => `nodes ${one} and ${other} miss all changes for ${Math.round(ms)} ms`)
  for (const node of [one, other]) network.deaf.add(node)
  network.deafness = chance.pick([1, 0.6])
  const victim = pickServing(world, members())
  const fate = chance.pick(['killed', 'killed', 'stopped', 'distrusted'] as const)
  if (fate !== 'killed' && victim) distrust(victim, Math.max(ms, noticedMs))
  if (fate === 'stopped' && victim) halt(world, victim, ms + chance.between(50, 600))
  world.wakeAfter(ms, () => {
    for (const node of [one, other]) network.deaf.delete(node)
    if (victim === undefined || fate !== 'killed') return
    world.note(() => `${victim.process.name} is killed`)
    victim.process.end()
  })
}

/** A node is down, or two nodes do not reach each other. */
function nodeDown({ world, network }: FaultTargets): void {
  const { chance } = world
  const [node, other] = chance.shuffled(nodeNumbers) as [number, number]
  const away = chance.flip(0.5)
  world.note(() => away ? `node ${node} is down` : `nodes ${node} and ${other} are parted`)
  const link = linkOf(node, other)
  if (away) network.down.add(node)
  else network.cut.add(link)
  world.after(chance.between(100, 3_000), () => {
    network.down.delete(node)
    network.cut.delete(link)
  })
}

/** Messages get lost or take long. */
function storm({ world, network }: FaultTargets): void {
  const { chance } = world
  Object.assign(network.weather, {
    loss: chance.between(0.02, 0.35),
    slow: chance.between(0.1, 0.5),
    slowestMs: chance.pick([50, 300, 1_500]),
  })
  world.note(() => `a storm: ${JSON.stringify(network.weather)}`)
  world.after(chance.between(200, 2_000), () => Object.assign(network.weather, network.climate))
}

/** The wall clock of a member jumps. */
function jump({ world, members }: FaultTargets): void {
  const member = pickMember(world, members())
  if (!member) return
  member.process.skewMs += world.chance.between(-1, 1) * world.chance.pick([1e3, 1e5, 1e8])
}

/** A new member joins: others give shards to it. */
function join({ join: start }: FaultTargets): void {
  start()
}

/** SIGTERM. */
function leave({ world, members }: FaultTargets): void {
  const member = pickServing(world, members())
  if (!member) return
  world.note(() => `${member.process.name} leaves`)
  member.process.after(0, () => void member.leave())
}

function giveBack({ world, members }: FaultTargets): void {
  const member = pickServing(world, members())
  if (!member) return
  world.note(() => `${member.process.name} gives everything back`)
  member.process.after(0, () => void (member.giveBack?.() ?? member.leave()))
}

/** Mostly a member that serves, because more can go wrong there. */
function pickMember(world: World, members: readonly FaultyMember[]): FaultyMember | undefined {
  return world.chance.flip(0.8) && pickServing(world, members) || world.chance.pick(members)
}

function pickServing(world: World, members: readonly FaultyMember[]): FaultyMember | undefined {
  const serving = members.filter(({ serving: serves }) => serves)
  return serving.length === 0 ? undefined : world.chance.pick(serving)
}
