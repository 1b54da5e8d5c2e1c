/** Clients of lists with lives: they put items in, look, remove them and copy them. */

import type { Chance } from './chance.ts'
import type { Violation } from './checker.ts'
import type { Copied, LifeCommand, Look, Place, Removal, RunStatuses } from './life-actor.ts'
import { LifeChecker } from './life-checker.ts'
import type { Remains } from './remains.ts'

/** Lists that clients make, and lists that are copies. */
const made = ['x', 'y']
const copies = ['k1', 'k2', 'k3', 'k4', 'k5', 'k6']

export function hasLives(list: string): boolean {
  return made.includes(list) || copies.includes(list)
}

/** What a client asks for, and how it learns the outcome. */
export interface LifeQuestion {
  readonly list: string
  readonly command: LifeCommand
  /** The next question after this answer; by default there is none. */
  next?(reply: unknown): LifeCommand | undefined
  hear(reply: unknown): void
  /** Nothing was written. */
  refuse(): void
}

export class LifeClients {
  acknowledged = 0
  looks = 0
  removals = 0
  copied = 0
  readonly #chance: Chance
  readonly #nowMs: () => number
  /** Whether clients name the life that they remove. */
  readonly #naming: boolean
  readonly #checkers: ReadonlyMap<string, LifeChecker>
  readonly #asked = new Set<string>()
  #items = 0

  constructor(
    { chance, nowMs, naming, fail }: { readonly chance: Chance; readonly nowMs: () => number;
      readonly naming: boolean; readonly fail: (violation: Violation, what: string) => void },
  ) {
    this.#chance = chance
    this.#nowMs = nowMs
    this.#naming = naming
    this.#checkers = new Map(
      [...made, ...copies].map((list) => [list, new LifeChecker(list, fail)]),
    )
  }

  /** Lists that some client has used. */
  get lists(): readonly string[] {
    return [...this.#asked]
  }

  ask(): LifeQuestion {
    const chance = this.#chance
    const list = chance.pick(chance.flip(0.6) ? made : [...made, ...copies])
    const at = chance.number()
    // Copies go one way only, so that no two lists wait for each other.
    const targets = copies.slice(copies.indexOf(list) + 1)
    if (at < 0.5) return this.#put(list)
    if (at < 0.7) return this.#look(list)
    return at < 0.85 || targets.length === 0
      ? this.#remove(list)
      : this.#copy(list, chance.pick(targets))
  }

  /** A search of runs found these of the list. */
  searched(list: string, runs: RunStatuses, asked: number): void {
    this.looks++
    this.#checker(list).runsFound(runs, this.#since(asked))
  }

  #checker(list: string): LifeChecker {
    this.#asked.add(list)
    return this.#checkers.get(list)!
  }

  /** What is wrong at the end, and may be right in a while. */
  end(list: string, look: Look, asked: number, remains: Remains): string | undefined {
    const checker = this.#checker(list)
    checker.look(look, this.#since(asked))
    const wrong = checker.end(look, remains)
    return wrong && `${list}: ${wrong}`
  }

  #put(list: string): LifeQuestion {
    const item = `${list}-${++this.#items}`
    const seen = this.#checker(list).put(item, this.#nowMs())
    return { list, command: { type: 'put', item }, refuse: seen.refused, hear: (reply) => {
      this.acknowledged++
      seen.acknowledged(reply as Place, this.#nowMs())
    } }
  }

  #look(list: string): LifeQuestion {
    const asked = this.#nowMs()
    return { list, command: { type: 'look' }, refuse: () => {}, hear: (reply) => {
      this.looks++
      this.#checker(list).look(reply as Look, this.#since(asked))
    } }
  }

  #remove(list: string): LifeQuestion {
    const seen = this.#checker(list).remove(this.#nowMs())
    const next = (reply: unknown): LifeCommand | undefined => {
      const { life } = reply as { readonly life: string }
      if (life === '') return undefined
      seen.meant(life, this.#nowMs())
      return this.#naming ? { type: 'remove', life } : { type: 'remove' }
    }
    return { list, command: { type: 'life' }, next, refuse: seen.refused, hear: (reply) => {
      const removal = reply as Removal
      if (removal.life) this.removals++
      seen.acknowledged(removal, this.#nowMs())
    } }
  }

  #copy(list: string, target: string): LifeQuestion {
    const asked = this.#nowMs()
    return { list, command: { type: 'copy', target }, refuse: () => {}, hear: (reply) => {
      const copied = reply as Copied
      if (copied === null) return
      this.copied++
      this.#checker(list).copied(copied, this.#since(asked))
      this.#checker(target).adopted(copied, this.#since(asked))
    } }
  }

  #since(asked: number): { asked: number; received: number } {
    return { asked, received: this.#nowMs() }
  }
}
