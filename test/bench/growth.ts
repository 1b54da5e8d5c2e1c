/** The cost of a long thread compared to a short one: a turn, its bytes at rest, reads, a copy. */

import { randomUUID } from 'node:crypto'
import type { LogWeight } from './log-weight.ts'
import type { Answer, Served } from './served.ts'
import { median } from './statistics.ts'

export interface GrowthPlan {
  /** The turn at which a thread is short. */
  readonly young: number
  /** The turn at which it is long. */
  readonly old: number
  readonly rounds: number
  /** Samples per kind and round. */
  readonly samples: number
}

export interface GrowthFigures {
  /** Round by round: median milliseconds of an `updates` stream. */
  readonly turn: Pair
  readonly history: ReadCost
  readonly state: ReadCost
  readonly copy: ReadCost
  /** Bytes of the log per turn, over windows that double. */
  readonly bytesPerTurn: readonly Window[]
}

export interface Pair {
  readonly young: number[]
  readonly old: number[]
}

/** Round by round: median milliseconds of an answer, and of each of its bytes. */
export interface ReadCost extends Pair {
  readonly perByte: Pair
}

export interface Window {
  readonly from: number
  readonly to: number
  readonly bytes: number
}

const filler = 'x'.repeat(480)
const oldThreads = 3

export async function measureGrowth(served: Served, log: LogWeight,
  plan: GrowthPlan): Promise<GrowthFigures> {
  const ids = Array.from({ length: oldThreads }, () => randomUUID())
  const bytesPerTurn = await firstLongThread(served, log, ids[0]!, plan.old)
  for (const id of ids.slice(1)) await talk(served, id, 1, plan.old)
  const long = new LongThreads(ids, plan.old)
  const figures = { turn: pair(), history: readCost(), state: readCost(), copy: readCost() }
  for (let round = 0; round < plan.rounds; round += 1) {
    await turnRound(served, long, plan, figures.turn)
    const young = randomUUID()
    await talk(served, young, 1, plan.young)
    const read = (cost: ReadCost, ask: (id: string) => Promise<Answer>) =>
      readRound({ young, old: ids[round % ids.length]! }, plan.samples, cost, ask)
    await read(figures.history, (id) => served.ask('POST', `/threads/${id}/history`, { limit: 10 }))
    await read(figures.state, (id) => served.ask('GET', `/threads/${id}/state`))
    await read(figures.copy, (id) => served.ask('POST', `/threads/${id}/copy`))
  }
  return { ...figures, bytesPerTurn }
}

/** Threads at the same turn, taken in rotation. */
class LongThreads {
  readonly #ids: readonly string[]
  #next = 0
  #turn: number

  constructor(ids: readonly string[], turn: number) {
    this.#ids = ids
    this.#turn = turn
  }

  async stream(served: Served): Promise<number> {
    const id = this.#ids[this.#next]!
    this.#next = (this.#next + 1) % this.#ids.length
    if (this.#next === 0) this.#turn += 1
    return (await served.stream(id, textOf(this.#turn))).totalMs
  }
}

/** Old and young alternate. Each young thread is measured over the turns around `young`. */
async function turnRound(served: Served, long: LongThreads, plan: GrowthPlan,
  figures: Pair): Promise<void> {
  const young: number[] = []
  const old: number[] = []
  while (young.length < plan.samples) {
    const id = randomUUID()
    const half = Math.min(5, plan.young - 1)
    await talk(served, id, 1, plan.young - half)
    for (let number = plan.young - half + 1; number <= plan.young + half; number += 1) {
      young.push((await served.stream(id, textOf(number))).totalMs)
      old.push(await long.stream(served))
    }
  }
  figures.young.push(median(young))
  figures.old.push(median(old))
}

async function readRound(ids: { readonly young: string; readonly old: string }, samples: number,
  cost: ReadCost, ask: (id: string) => Promise<Answer>): Promise<void> {
  const answers = { young: [] as Answer[], old: [] as Answer[] }
  for (let n = 0; n < samples; n += 1) {
    for (const kind of ['young', 'old'] as const) answers[kind].push(await ask(ids[kind]))
  }
  for (const kind of ['young', 'old'] as const) {
    cost[kind].push(median(answers[kind].map(({ ms }) => ms)))
    cost.perByte[kind].push(median(answers[kind].map(({ ms, bytes }) => ms / bytes)))
  }
}

/** Runs a thread to its last turn and weighs the log at every doubling. */
async function firstLongThread(served: Served, log: LogWeight, id: string,
  last: number): Promise<Window[]> {
  const windows: Window[] = []
  const marks = [last / 8, last / 4, last / 2, last].map(Math.floor)
  let from = marks[0]!
  await talk(served, id, 1, from)
  for (const to of marks.slice(1)) {
    const { bytes: before } = await log.weigh()
    await talk(served, id, from + 1, to)
    const { bytes } = await log.weigh()
    windows.push({ from, to, bytes: (bytes - before) / (to - from) })
    from = to
  }
  return windows
}

async function talk(served: Served, id: string, from: number, to: number): Promise<void> {
  for (let number = from; number <= to; number += 1) await served.stream(id, textOf(number))
}

/** A message of five hundred characters. */
const textOf = (number: number) => `turn ${String(number).padStart(14, '0')} ${filler}`
const pair = (): Pair => ({ young: [], old: [] })
const readCost = (): ReadCost => ({ ...pair(), perByte: pair() })
