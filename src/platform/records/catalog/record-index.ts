/** The records of one catalog in memory: by id, by name, and in the orders of its lists. */

import { catalogLimits, charactersOf } from './catalog-record.ts'
import type { CatalogRecord } from './catalog-record.ts'

/** Keys by which lists are sorted, and then by id. */
export type RecordOrder = 'order' | 'name' | 'created' | 'modified'

/** The value of a record in an order. */
function orderValue(record: CatalogRecord, order: RecordOrder): number | string {
  switch (order) {
    case 'order':
      return record.orderMs
    case 'name':
      return record.name
    case 'created':
      return record.createdAtMs
    case 'modified':
      return record.modifiedAtMs
  }
}

/** Negative if the first stands before the second in ascending order. */
export function compareInOrder(order: RecordOrder, a: CatalogRecord, b: CatalogRecord): number {
  return compare(orderValue(a, order), orderValue(b, order)) || compare(a.id, b.id)
}

function compare<Value extends number | string>(a: Value, b: Value): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The records as decisions and lists see them. */
export interface ReadonlyRecordIndex {
  readonly size: number
  /** Of all records together. */
  readonly characters: number
  /** Bytes of the documents of all records together. */
  readonly heldBytes: number
  get(id: string): CatalogRecord | undefined
  named(name: string): CatalogRecord | undefined
  /** All in ascending order. */
  ordered(order: RecordOrder): readonly CatalogRecord[]
}

/** Holds the records of a catalog. */
export class RecordIndex implements ReadonlyRecordIndex {
  readonly #byId = new Map<string, CatalogRecord>()
  readonly #idOf = new Map<string, string>()
  /** Sorted when first asked for after a change. */
  readonly #orders = new Map<RecordOrder, readonly CatalogRecord[]>()
  #characters = 0
  #heldBytes = 0

  get size(): number {
    return this.#byId.size
  }

  get characters(): number {
    return this.#characters
  }

  get heldBytes(): number {
    return this.#heldBytes
  }

  get(id: string): CatalogRecord | undefined {
    return this.#byId.get(id)
  }

  named(name: string): CatalogRecord | undefined {
    const id = this.#idOf.get(name)
    return id === undefined ? undefined : this.#byId.get(id)
  }

  put(record: CatalogRecord): void {
    this.remove(record.id)
    this.#byId.set(record.id, record)
    this.#idOf.set(record.name, record.id)
    this.#characters += charactersOf(record)
    this.#heldBytes += record.heldBytes
  }

  remove(id: string): void {
    this.#orders.clear()
    const record = this.#byId.get(id)
    if (record === undefined) return
    this.#byId.delete(id)
    this.#idOf.delete(record.name)
    this.#characters -= charactersOf(record)
    this.#heldBytes -= record.heldBytes
  }

  ordered(order: RecordOrder): readonly CatalogRecord[] {
    const known = this.#orders.get(order)
    if (known !== undefined) return known
    const sorted = [...this.#byId.values()].sort((a, b) => compareInOrder(order, a, b))
    this.#orders.set(order, sorted)
    return sorted
  }

  values(): Iterable<CatalogRecord> {
    return this.#byId.values()
  }
}

/** True if more records or characters than a catalog may hold would be in it. */
export function isOverFull({ size, characters }: Pick<ReadonlyRecordIndex, 'size' | 'characters'>,
  limits: { readonly records: number; readonly characters: number } = catalogLimits): boolean {
  return size > limits.records || characters > limits.characters
}
