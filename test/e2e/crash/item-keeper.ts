/** A worker that keeps items in the store of the API. */

import { randomUUID } from 'node:crypto'

import type { Client } from '@langchain/langgraph-sdk'
import { expect } from 'vitest'

import type { LoadWorker } from './worker.ts'

const keys = Array.from({ length: 12 }, (_, index) => `key ${index}`)

/** Puts and deletes items of one namespace, and reads each back. */
export class ItemKeeper implements LoadWorker {
  readonly name = 'items'
  readonly #namespace = ['crash', randomUUID()]
  /** What was acknowledged. */
  readonly #values = new Map<string, number>()
  #doubt: { readonly key: string; readonly value: number | undefined } | undefined
  #count = 0

  async act({ store }: Client): Promise<void> {
    this.#count += 1
    const key = keys[this.#count % keys.length]!
    const value = this.#count % 5 === 0 ? undefined : this.#count
    this.#doubt = { key, value }
    if (value === undefined) await store.deleteItem(this.#namespace, key)
    else await store.putItem(this.#namespace, key, { value })
    this.#settle(value)
    expect((await store.getItem(this.#namespace, key))?.value).toEqual(value && { value })
  }

  async check({ store }: Client): Promise<void> {
    if (this.#doubt !== undefined) {
      const { key, value } = this.#doubt
      const found = (await store.getItem(this.#namespace, key))?.value['value'] as
        | number
        | undefined
      expect(found).toBeOneOf([value, this.#values.get(key)])
      this.#settle(found)
    }
    const { items } = await store.searchItems(this.#namespace, { limit: 100 })
    const found = items.map(({ key, value }) => [key, value['value']] as const)
    expect(found.toSorted()).toEqual([...this.#values].toSorted())
  }

  #settle(value: number | undefined): void {
    const { key } = this.#doubt!
    if (value === undefined) this.#values.delete(key)
    else this.#values.set(key, value)
    this.#doubt = undefined
  }
}
