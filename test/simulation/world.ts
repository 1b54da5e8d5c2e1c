/** A world with one clock, where events happen one after the other, the same for each seed. */

import { Chance } from './chance.ts'

interface Happening {
  readonly atMs: number
  readonly order: number
  /** Undefined if it was cancelled. */
  fn: (() => void) | undefined
  /** Whether it touches promises, which are then settled before the next event. */
  readonly wakes: boolean
}

/** Events between two turns of Node's own loop, by which long rows are encoded. */
const eventsATurn = 64

export class World {
  readonly chance: Chance
  /** What happened, oldest first; recorded only on request. */
  readonly trace: string[] = []
  readonly #tracing: boolean
  readonly #heap: Happening[] = []
  #nowMs = 0
  #order = 0
  /** Turns of Node's own loop before the next event. */
  #turns = 0
  #held: Promise<unknown> | undefined

  constructor(seed: number, tracing = false) {
    this.chance = new Chance(seed)
    this.#tracing = tracing
  }

  get nowMs(): number {
    return this.#nowMs
  }

  /** Calls `fn` then; the result cancels it. `fn` must not touch promises. */
  after(ms: number, fn: () => void): () => void {
    return this.#add(ms, fn, false)
  }

  /** As `after`, for a `fn` that touches promises. */
  wakeAfter(ms: number, fn: () => void): () => void {
    return this.#add(ms, fn, true)
  }

  /** `line` is called only if the trace is recorded. */
  note(line: () => string): void {
    if (this.#tracing) this.trace.push(`${this.#nowMs.toFixed(1).padStart(9)}  ${line()}`)
  }

  /** Lets code outside of the world have turns of Node's own loop before the next event. */
  letTurn(turns: number): void {
    this.#turns = Math.max(this.#turns, turns)
  }

  /** No event happens before the work is done, which must not wait for one. */
  async hold<Result>(work: Promise<Result>): Promise<Result> {
    this.#held = work.catch(() => {})
    return await work
  }

  /** Lets events happen until `ended`; returns false if `limitMs` comes first. */
  async run(ended: () => boolean, limitMs: number): Promise<boolean> {
    for (let events = 1; !ended(); events++) {
      const [soonest] = this.#heap
      if (soonest === undefined || soonest.atMs > limitMs) return false
      const next = this.#take()!
      this.#nowMs = next.atMs
      next.fn?.()
      if (next.wakes) await settled()
      while (this.#held !== undefined) {
        const held = this.#held
        await held
        if (this.#held === held) this.#held = undefined
        await settled()
      }
      for (; this.#turns > 0; this.#turns--) await new Promise((turn) => setImmediate(turn))
      if (events % eventsATurn === 0) await new Promise((turn) => setImmediate(turn))
    }
    return true
  }

  #add(ms: number, fn: () => void, wakes: boolean): () => void {
    const happening: Happening = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, fn,
      wakes }
    const heap = this.#heap
    let at = heap.push(happening) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!before(happening, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = happening
    return () => {
      happening.fn = undefined
    }
  }

  #take(): Happening | undefined {
    const heap = this.#heap
    const first = heap[0]
    const last = heap.pop()
    if (first === undefined || last === undefined || heap.length === 0) return first
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && before(heap[child + 1]!, heap[child]!)) child++
      if (!before(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
    return first
  }
}

function before(a: Happening, b: Happening): boolean {
  return a.atMs < b.atMs || (a.atMs === b.atMs && a.order < b.order)
}

/** Resolves when all promises that can settle have: a cheap tick comes after all of them. */
function settled(): Promise<void> {
  return new Promise((resolve) => {
    process.nextTick(resolve)
  })
}
