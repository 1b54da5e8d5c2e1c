/** Clients of items: they put, get and delete a few of them. */

import type { ItemCommand } from '../../src/items/item-actor.ts'
import { itemId } from '../../src/search/index.ts'
import type { Chance } from './chance.ts'
import type { Violation } from './checker.ts'
import { ItemChecker } from './item-checker.ts'

const items = ['item-a', 'item-b']

/** What a client asks for, and how it learns the outcome. */
export interface ItemQuestion {
  readonly list: string
  readonly command: ItemCommand
  hear(reply: unknown): void
  /** Nothing was written. */
  refuse(): void
}

/** The place of an item in the store; undefined for a list. */
export function placeOf(
  list: string,
): { namespace: string[]; key: string; id: string } | undefined {
  if (!items.includes(list)) return undefined
  return { namespace: ['simulated'], key: list, id: itemId(['simulated'], list) }
}

export class ItemClients {
  writes = 0
  reads = 0
  readonly #chance: Chance
  readonly #nowMs: () => number
  readonly #checkers: ReadonlyMap<string, ItemChecker>
  #values = 0

  constructor(
    { chance, nowMs, fail }: { readonly chance: Chance; readonly nowMs: () => number;
      readonly fail: (violation: Violation, what: string) => void },
  ) {
    this.#chance = chance
    this.#nowMs = nowMs
    this.#checkers = new Map(items.map((item) => [item, new ItemChecker(item, fail)]))
  }

  readonly items = items

  ask(): ItemQuestion {
    const list = this.#chance.pick(items)
    const at = this.#chance.number()
    if (at < 0.5) return this.get(list)
    return this.#write(list, at < 0.9 ? `v${++this.#values}` : null)
  }

  get(list: string): ItemQuestion {
    const asked = this.#nowMs()
    return { list, command: { kind: 'get', refresh: false }, refuse: () => {}, hear: (reply) => {
      this.reads++
      const found = reply as { readonly valueJson: string } | null
      const value = found === null ? null : JSON.parse(found.valueJson) as string
      this.#checkers.get(list)!.read(value, { asked, received: this.#nowMs() })
    } }
  }

  #write(list: string, value: string | null): ItemQuestion {
    const seen = this.#checkers.get(list)!.write(value, this.#nowMs())
    const { id: _, ...place } = placeOf(list)!
    const content = { valueJson: JSON.stringify(value), ttlMs: 0, vectors: '', dims: 0 }
    return {
      list,
      command: value === null ? { kind: 'delete', place } : { kind: 'put', place, content },
      refuse: seen.refused,
      hear: () => {
        this.writes++
        seen.acknowledged(this.#nowMs())
      },
    }
  }
}
