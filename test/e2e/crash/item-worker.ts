/** A worker that puts, deletes and finds items of the store. */

import { randomUUID } from 'node:crypto'
import type { Client } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'
import type { LoadWorker } from './worker.ts'

const keys = ['a', 'b', 'c', 'd', 'e']

/** Null for an item that is not there. */
type Known = number | null

/** Counts up the items of a namespace, one after the other, and deletes each seventh. */
export class Rememberer implements LoadWorker {
  readonly name = 'rememberer'
  readonly #namespace = ['crash', randomUUID()]
  /** What was acknowledged, by key. */
  readonly #known = new Map<string, Known>()
  /** What may have happened as well. */
  #doubt: readonly [key: string, value: Known] | undefined
  #count = 0

  async act({ store }: Client): Promise<void> {
    this.#count += 1
    const key = keys[this.#count % keys.length]!
    const value = this.#count % 7 === 0 ? null : this.#count
    this.#doubt = [key, value]
    if (value === null) await store.deleteItem(this.#namespace, key)
    else await store.putItem(this.#namespace, key, { value })
    this.#known.set(key, value)
    this.#doubt = undefined
    const found = await store.getItem(this.#namespace, key)
    expect(found?.value['value'] ?? null).toBe(value)
  }

  async check({ store }: Client): Promise<void> {
    const { items } = await store.searchItems(this.#namespace, { limit: 100 })
    const found = new Map(items.map(({ key, value }) => [key, Number(value['value'])]))
    for (const key of keys) {
      const item = await store.getItem(this.#namespace, key)
      const value = item === null ? null : Number(item.value['value'])
      const known = this.#known.get(key) ?? null
      const doubted = this.#doubt?.[0] === key ? [this.#doubt[1]] : []
      expect(value, `item ${key}`).toBeOneOf([known, ...doubted])
      expect(found.get(key) ?? null, `item ${key} in a search`).toBe(value)
      this.#known.set(key, value)
    }
    this.#doubt = undefined
  }
}
