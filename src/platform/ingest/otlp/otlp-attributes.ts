/** Attributes of OpenTelemetry: how they are looked up, and which of them a mapping has used up. */

import { isObject } from '../../../json/index.ts'
import { NestedValue, splitNumbered } from './otlp-nested.ts'

/** The value of an attribute. */
export type AttributeValue = string | number | boolean | null | readonly AttributeValue[] | {
  readonly [key: string]: AttributeValue
}

/** Attributes by their keys. */
export interface Attributes extends Iterable<readonly [string, AttributeValue]> {
  get(key: string): AttributeValue | undefined
  has(key: string): boolean
}

/** A JSON object. */
export type JsonObject = Readonly<Record<string, AttributeValue>>

/**
 * The attributes of a span; those of its resource fill in what it does not have. A mapping takes
 * those whose whole value is somewhere else in the run.
 */
export class SpanAttributes implements Attributes {
  readonly #own: ReadonlyMap<string, AttributeValue>
  readonly #resource: ReadonlyMap<string, AttributeValue>
  readonly #taken = new Set<string>()
  #pairs?: readonly Pair[]
  #numbered?: ReadonlyMap<string, readonly NumberedPair[]>

  constructor(own: ReadonlyMap<string, AttributeValue>,
    resource: ReadonlyMap<string, AttributeValue> = new Map()) {
    this.#own = own
    this.#resource = resource
  }

  get(key: string): AttributeValue | undefined {
    const own = this.#own.get(key)
    return own === undefined ? this.#resource.get(key) : own
  }

  has(key: string): boolean {
    return this.#own.has(key) || this.#resource.has(key)
  }

  /** All of them, its own first. They are read by each convention. */
  get pairs(): readonly Pair[] {
    return this.#pairs ??= [...this.#own,
      ...[...this.#resource].filter(([key]) => !this.#own.has(key))]
  }

  /** Prefixes of keys with an index, such as `gen_ai.prompt` of `gen_ai.prompt.0.role`. */
  get prefixes(): Iterable<string> {
    return this.#byPrefix().keys()
  }

  /**
   * Returns the list below a prefix, and takes its attributes. Returns `undefined` for no list. Of
   * two attributes at one place of the list, the second is not taken.
   */
  takeList(prefix: string): readonly AttributeValue[] | undefined {
    const nested = new NestedValue()
    for (const { key, path, value } of this.#byPrefix().get(prefix) ?? []) {
      if (nested.add(path, parsedText(value)!)) this.take(key)
    }
    const list = nested.value() as readonly AttributeValue[]
    return list.length > 0 ? list : undefined
  }

  #byPrefix(): ReadonlyMap<string, readonly NumberedPair[]> {
    if (this.#numbered !== undefined) return this.#numbered
    const found = new Map<string, NumberedPair[]>()
    for (const [key, value] of this.pairs) {
      const [prefix, path] = splitNumbered(key) ?? []
      if (prefix === undefined) continue
      const before = found.get(prefix)
      const pair = { key, path: path!, value }
      if (before === undefined) found.set(prefix, [pair])
      else before.push(pair)
    }
    return this.#numbered = found
  }

  [Symbol.iterator](): Iterator<Pair> {
    return this.pairs[Symbol.iterator]()
  }

  /** Marks what the run says elsewhere, as a whole. */
  take(key: string): void {
    this.#taken.add(key)
  }

  /** Those of the span itself that nobody took. */
  left(): readonly Pair[] {
    return [...this.#own].filter(([key]) => !this.#taken.has(key))
  }
}

type Pair = readonly [key: string, value: AttributeValue]

/** An attribute with an index in its key, and its path from that index on. */
interface NumberedPair {
  readonly key: string
  readonly path: string
  readonly value: AttributeValue
}

/** The first text at one of the keys that is not empty. It stays where it is. */
export function textAt(attributes: Attributes, ...keys: readonly string[]): string | undefined {
  for (const key of keys) {
    const value = attributes.get(key)
    if (typeof value === 'string' && value !== '') return value
  }
  return undefined
}

/** The same, and it is taken. */
export function takenText(attributes: SpanAttributes, ...keys: readonly string[]):
  | string
  | undefined {
  for (const key of keys) {
    const value = attributes.get(key)
    if (typeof value !== 'string' || value === '') continue
    attributes.take(key)
    return value
  }
  return undefined
}

/** The first number at one of the keys, which some libraries write as a text. It is taken. */
export function takenNumber(attributes: SpanAttributes, ...keys: readonly string[]):
  | number
  | undefined {
  for (const key of keys) {
    const value = attributes.get(key)
    if (value === undefined) continue
    const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value
    if (typeof number !== 'number' || !Number.isFinite(number)) continue
    attributes.take(key)
    return number
  }
  return undefined
}

/** The JSON object at a key. It is taken. */
export function takenObject(attributes: SpanAttributes, key: string): JsonObject | undefined {
  const value = parsedText(attributes.get(key))
  if (!isObject(value)) return undefined
  attributes.take(key)
  return value as JsonObject
}

/** The value of JSON in a text; other values, and texts that are no JSON, as they are. */
export function parsedText(value: AttributeValue | undefined): AttributeValue | undefined {
  if (typeof value !== 'string' || !/^\s*[[{]/.test(value)) return value
  try {
    return JSON.parse(value) as AttributeValue
  } catch {
    return value
  }
}
