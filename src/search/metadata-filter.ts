/** Filters on metadata that the login of a project returns: what a caller may see. Pure. */

import { isObject } from '../json/index.ts'

/** Value that a filter compares. */
type Scalar = string | number | boolean | null

/**
 * A filter that was read. It is plain data, which members send to each other.
 *
 * equals    the key has exactly this value
 * contains  the key has a list with all of these values
 */
export type MetadataFilter =
  | { readonly kind: 'equals'; readonly key: string; readonly value: Scalar }
  | { readonly kind: 'contains'; readonly key: string; readonly values: readonly Scalar[] }
  | { readonly kind: 'all' | 'any'; readonly of: readonly MetadataFilter[] }

/** Keys, values of lists and branches that a filter has together, and its characters. */
const [conditionsMax, charactersMax] = [100, 16 * 1024]
/** Levels of `$or` and `$and`. */
const depthMax = 2
/** Characters of a key that a message shows. */
const shownMax = 40

/**
 * Reads what a login returned: `{key: value}`, `{key: {$eq: value}}`, `{key: {$contains: value}}`
 * with one value or a list, and lists of filters as `$or` and `$and`. All members must hold. Throws
 * an error with the reason for anything else, as a filter that is not understood protects nothing.
 */
export function readMetadataFilter(filter: unknown): MetadataFilter {
  return new Reader().filter(filter, 0)
}

/** True if the filter lets see something with this metadata. */
export function matchesMetadata(filter: MetadataFilter,
  metadata: Readonly<Record<string, unknown>>): boolean {
  switch (filter.kind) {
    case 'equals':
      return Object.hasOwn(metadata, filter.key) && metadata[filter.key] === filter.value
    case 'contains': {
      const list = Object.hasOwn(metadata, filter.key) ? metadata[filter.key] : undefined
      return Array.isArray(list) && filter.values.every((value) => list.includes(value))
    }
    case 'all':
      return filter.of.every((each) => matchesMetadata(each, metadata))
    case 'any':
      return filter.of.some((each) => matchesMetadata(each, metadata))
    default:
      // A newer member may send a kind that is unknown here.
      throw new TypeError(`Unknown filter ${JSON.stringify(filter satisfies never)}`)
  }
}

/** Reads one filter, and counts what it has. */
class Reader {
  #conditions = 0
  #characters = 0

  filter(filter: unknown, depth: number): MetadataFilter {
    if (!isObject(filter)) throw new TypeError('A filter must be an object')
    const of = Object.entries(filter).map(([key, wanted]) =>
      key === '$or' || key === '$and'
        ? this.#branches(key, wanted, depth + 1)
        : this.#condition(key, wanted)
    )
    return of.length === 1 ? of[0]! : { kind: 'all', of }
  }

  #branches(operator: '$or' | '$and', wanted: unknown, depth: number): MetadataFilter {
    if (!Array.isArray(wanted)) throw new TypeError(`${operator} must be a list of filters`)
    if (depth > depthMax) throw new TypeError(`$or and $and go ${depthMax} deep at most`)
    const of = wanted.map((each: unknown) => {
      this.#count('')
      return this.filter(each, depth)
    })
    return { kind: operator === '$or' ? 'any' : 'all', of }
  }

  #condition(key: string, wanted: unknown): MetadataFilter {
    const name = JSON.stringify(key.slice(0, shownMax))
    this.#count(key)
    if (key.startsWith('$')) throw new TypeError(`${name} is no operator of a filter`)
    if (!isObject(wanted)) return { kind: 'equals', key, value: this.#value(name, wanted) }
    const [[operator, operand] = [], ...others] = Object.entries(wanted)
    if (others.length > 0 || (operator !== '$eq' && operator !== '$contains')) {
      throw new TypeError(`${name} must have a value, or one of $eq and $contains`)
    }
    if (operator === '$eq') return { kind: 'equals', key, value: this.#value(name, operand) }
    if (!Array.isArray(operand)) {
      return { kind: 'contains', key, values: [this.#value(name, operand)] }
    }
    return { kind: 'contains', key, values: operand.map((each: unknown) => {
      this.#count('')
      return this.#value(name, each)
    }) }
  }

  #value(name: string, value: unknown): Scalar {
    const isScalar = value === null || typeof value === 'string' || typeof value === 'boolean'
      || Number.isFinite(value)
    if (!isScalar) {
      throw new TypeError(`${name} must be a text, a finite number, true, false or null`)
    }
    this.#characters += String(value).length
    this.#requireShort()
    return value as Scalar
  }

  /** Counts a key, a value of a list or a branch. */
  #count(key: string): void {
    this.#conditions++
    this.#characters += key.length
    this.#requireShort()
  }

  #requireShort(): void {
    if (this.#conditions > conditionsMax) {
      throw new TypeError(`A filter has ${conditionsMax} conditions at most`)
    }
    if (this.#characters > charactersMax) {
      throw new TypeError(`A filter has ${charactersMax / 1024} KB of keys and values at most`)
    }
  }
}
