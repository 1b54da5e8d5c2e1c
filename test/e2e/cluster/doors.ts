/** The front doors of a cluster: which are up, and which may fail because a test closed them. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../../simulation/chance.ts'

/** A front door during one life of its member. */
export interface Door {
  readonly url: string
  readonly place: number
  readonly life: number
}

const lookMs = 10

export class Doors {
  readonly #urls: readonly string[]
  readonly #chance: Chance
  readonly #lives: number[]
  readonly #down = new Set<number>()

  constructor(urls: readonly string[], chance: Chance) {
    this.#urls = urls
    this.#chance = chance
    this.#lives = urls.map(() => 0)
  }

  /** Any front door that is up; waits if none is. */
  async pick(): Promise<Door> {
    const ups = () => this.#urls.flatMap((_, index) => this.#down.has(index) ? [] : [index])
    while (ups().length === 0) await pause(lookMs)
    const up = ups()
    const place = this.#chance.pick(up)
    return { place, url: this.#urls[place]!, life: this.#lives[place]! }
  }

  /** From now on it gets no new requests, and those under way may break. */
  close(index: number): void {
    this.#lives[index]! += 1
    this.#down.add(index)
  }

  reopen(index: number): void {
    this.#down.delete(index)
  }

  /** Whether it was closed since it was picked. */
  isExcused({ place: index, life }: Door): boolean {
    return this.#lives[index] !== life
  }
}
