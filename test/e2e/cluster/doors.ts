/** The front doors of a cluster: which are up, and whose failures are to be expected. */

import { setTimeout as pause } from 'node:timers/promises'
import type { Chance } from '../../simulation/chance.ts'

/** A front door as it was chosen: in one life of its member. */
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

  /** Any that is up; waits for one where none is. */
  async pick(): Promise<Door> {
    const ups = () => this.#urls.flatMap((_, place) => this.#down.has(place) ? [] : [place])
    while (ups().length === 0) await pause(lookMs)
    const up = ups()
    const place = this.#chance.pick(up)
    return { place, url: this.#urls[place]!, life: this.#lives[place]! }
  }

  /** From now on nobody goes there, and whoever is there may be cut off. */
  close(place: number): void {
    this.#lives[place]! += 1
    this.#down.add(place)
  }

  reopen(place: number): void {
    this.#down.delete(place)
  }

  /** Whether something happened to it since it was chosen. */
  isExcused({ place, life }: Door): boolean {
    return this.#lives[place] !== life
  }
}
