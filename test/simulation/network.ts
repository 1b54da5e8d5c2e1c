/** Three nodes that hold every row, and the messages between them. */

import { Replica as NewReplica } from './replica.ts'
import type { Replica } from './replica.ts'
import type { World } from './world.ts'

export const nodeCount = 3
export const quorum = 2
export const nodeNumbers: readonly number[] = Array.from({ length: nodeCount }, (_, node) => node)

/** The current state of the network; faults change it. */
export interface Weather {
  /** Share of messages that get lost. */
  loss: number
  /** Share of messages that take long. */
  slow: number
  slowestMs: number
}

export class Network {
  readonly world: World
  readonly replicas: readonly Replica[] = nodeNumbers.map(() => new NewReplica())
  /** The weather without a storm. */
  readonly climate: Weather = { loss: 0, slow: 0, slowestMs: 20 }
  readonly weather: Weather = { ...this.climate }
  /** Nodes that neither act nor receive messages. */
  readonly down = new Set<number>()
  /** Pairs that do not reach each other, as `linkOf` names them. */
  readonly cut = new Set<string>()
  /** Nodes that miss changes, each with probability `deafness`. */
  readonly deaf = new Set<number>()
  deafness = 1
  readonly #ballots = nodeNumbers.map(() => 0)

  constructor(world: World) {
    this.world = world
  }

  reaches(from: string | number, to: number): boolean {
    return !this.down.has(to) && !this.cut.has(linkOf(from, to))
  }

  /** How long a message takes; undefined if it gets lost. */
  fate(): number | undefined {
    const { chance } = this.world
    const { loss, slow, slowestMs } = this.weather
    if (chance.flip(loss)) return undefined
    return chance.flip(slow) ? chance.between(2, slowestMs) : chance.between(0.2, 1.5)
  }

  /**
   * Calls `work` at the node `to`, and `received` with its answer back at `from`. A lost message
   * that is `lasting` may still be delivered later, as a hint.
   */
  ask<Answer>(from: number, to: number, work: (replica: Replica) => Answer,
    received: (answer: Answer) => void, lasting = false): void {
    this.#send(from, to, lasting, () => {
      const answer = work(this.replicas[to]!)
      this.#send(to, from, false, () => received(answer))
    })
  }

  /** A ballot above all that this node gave, and above `floor`. */
  ballot(node: number, floor: number): number {
    const above = Math.max(this.#ballots[node]!, Math.floor(floor / nodeCount))
    const base = Math.max(above + 1, Math.floor(this.world.nowMs * 1_000))
    this.#ballots[node] = base
    return base * nodeCount + node
  }

  /** Makes every node up and reachable. */
  heal(): void {
    this.down.clear()
    this.deaf.clear()
    this.cut.clear()
    Object.assign(this.climate, { loss: 0, slow: 0 })
    Object.assign(this.weather, this.climate)
  }

  #send(from: number, to: number, lasting: boolean, arrive: () => void): void {
    const { world } = this
    const deaf = lasting && this.deaf.has(to) && world.chance.flip(this.deafness)
    const near = from === to && !this.down.has(to) ? 0.1 : undefined
    const delayMs = deaf || !this.reaches(from, to) ? undefined : near ?? this.fate()
    const hinted = delayMs === undefined && lasting && world.chance.flip(deaf ? 0.1 : 0.5)
    if (delayMs === undefined && !hinted) return
    world.after(delayMs ?? world.chance.between(200, 6_000), () => {
      if (!this.down.has(to)) arrive()
    })
  }
}

/** The key of a link between two nodes, two processes, or one of each. */
export function linkOf(a: string | number, b: string | number): string {
  const swapped = typeof a === typeof b && a > b
  return swapped ? `${b} ${a}` : `${a} ${b}`
}

/** Calls `fn` on the first call only. */
export function once<Args extends readonly unknown[]>(
  fn: (...args: Args) => void,
): ((...args: Args) => void) & { readonly done: boolean } {
  const first = Object.assign((...args: Args) => {
    if (first.done) return
    first.done = true
    fn(...args)
  }, { done: false })
  return first
}
