/** Clients of items, and of what is used as items are: they put, get and delete a few of them. */

import type { ItemCommand } from '../../src/items/item-actor.ts'
import type { CatalogCommand } from '../../src/platform/records/catalog/catalog-command.ts'
import { itemId } from '../../src/search/index.ts'
import type { Chance } from './chance.ts'
import type { Violation } from './checker.ts'
import type { HeldCommand } from './held-actor.ts'
import { ItemChecker } from './item-checker.ts'

/** A command to an item, to a catalog or to a value that is kept back. */
export type RegisterCommand = ItemCommand | CatalogCommand | HeldCommand

/** How registers of one kind are used. */
export interface RegisterCommands {
  readonly names: readonly string[]
  keyOf(name: string): { readonly kind: string; readonly id: string }
  get(name: string): RegisterCommand
  put(name: string, value: string): RegisterCommand
  remove(name: string): RegisterCommand
  /** The value in the answer of a get; null if there is none. */
  valueIn(reply: unknown): string | null
  /** False for an answer to a put which may still be lost; by default none is. */
  acknowledges?(reply: unknown): boolean
}

const namespace = ['simulated']

/** Items of the store. */
export const itemCommands: RegisterCommands = {
  names: ['item-a', 'item-b'],
  keyOf: (key) => ({ kind: 'item', id: itemId(namespace, key) }),
  get: () => ({ kind: 'get', refresh: false }),
  put: (key, value) => ({ kind: 'put', place: { namespace, key },
    content: { valueJson: JSON.stringify(value), ttlMs: 0, vectors: '', dims: 0 } }),
  remove: (key) => ({ kind: 'delete', place: { namespace, key } }),
  valueIn: (reply) => {
    const found = reply as { readonly valueJson: string } | null
    return found === null ? null : JSON.parse(found.valueJson) as string
  },
}

/** What a client asks for, and how it learns the outcome. */
export interface ItemQuestion {
  readonly list: string
  readonly command: RegisterCommand
  hear(reply: unknown): void
  /** Nothing was written. */
  refuse(): void
}

export class ItemClients {
  writes = 0
  reads = 0
  readonly #chance: Chance
  readonly #nowMs: () => number
  readonly #commands: RegisterCommands
  readonly #checkers: ReadonlyMap<string, ItemChecker>
  #values = 0

  constructor(
    { commands, chance, nowMs, fail }: { readonly commands: RegisterCommands;
      readonly chance: Chance; readonly nowMs: () => number;
      readonly fail: (violation: Violation, what: string) => void },
  ) {
    this.#chance = chance
    this.#nowMs = nowMs
    this.#commands = commands
    this.#checkers = new Map(commands.names.map((item) => [item, new ItemChecker(item, fail)]))
  }

  get items(): readonly string[] {
    return this.#commands.names
  }

  ask(): ItemQuestion {
    const list = this.#chance.pick(this.items)
    const at = this.#chance.number()
    if (at < 0.5) return this.get(list)
    return this.#write(list, at < 0.9 ? `v${++this.#values}` : null)
  }

  get(list: string): ItemQuestion {
    const asked = this.#nowMs()
    return { list, command: this.#commands.get(list), refuse: () => {}, hear: (reply) => {
      this.reads++
      this.#checkers.get(list)!.read(this.#commands.valueIn(reply), { asked,
        received: this.#nowMs() })
    } }
  }

  #write(list: string, value: string | null): ItemQuestion {
    const seen = this.#checkers.get(list)!.write(value, this.#nowMs())
    return {
      list,
      command: value === null
        ? this.#commands.remove(list)
        : this.#commands.put(list, value),
      refuse: seen.refused,
      hear: (reply) => {
        if (this.#commands.acknowledges?.(reply) === false) return
        this.writes++
        seen.acknowledged(this.#nowMs())
      },
    }
  }
}
