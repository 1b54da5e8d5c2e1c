/** Converts live values to the shape whose JSON the API shows, and says what JSON would lose. */

import { types } from 'node:util'

import { memberOf, objectOf } from '../../json/index.ts'
import { isChatMessage } from './chat-message.ts'
import type { ChatMessages } from './chat-message.ts'

/**
 * plain     JSON makes the same value again
 * cloned    JSON loses something that a structured clone keeps: a Date, a Map, NaN
 * foreign   a class, a function or a cycle: only the graph's serializer may know it
 */
export type Fidelity = 'plain' | 'cloned' | 'foreign'

/** Walks one value. Objects that need no change are returned as they are. */
export class ApiShaper {
  readonly #messages: ChatMessages
  readonly #path: object[] = []
  #fidelity: Fidelity = 'plain'

  constructor(messages: ChatMessages) {
    this.#messages = messages
  }

  /** The shape and the fidelity of the whole value. */
  shape(value: unknown): { readonly shape: unknown; readonly fidelity: Fidelity } {
    this.#fidelity = 'plain'
    this.#path.length = 0
    if (value === undefined) this.#fidelity = 'cloned'
    const shape = this.#any(value)
    return { shape, fidelity: this.#fidelity }
  }

  #any(value: unknown): unknown {
    switch (typeof value) {
      case 'object':
        return value === null ? null : this.#object(value)
      case 'number':
        if (!Number.isFinite(value) || Object.is(value, -0)) this.#atLeast('cloned')
        return value
      case 'bigint':
        this.#atLeast('cloned')
        return String(value)
      case 'function':
      case 'symbol':
        this.#atLeast('foreign')
        return undefined
      default:
        return value
    }
  }

  #object(value: object): unknown {
    if (this.#path.includes(value)) {
      this.#atLeast('foreign')
      return '[Circular]'
    }
    this.#path.push(value)
    const shape = Array.isArray(value) ? this.#list(value) : this.#record(value)
    this.#path.pop()
    return shape
  }

  #list(list: unknown[]): unknown[] {
    let copy: unknown[] | undefined
    for (let i = 0; i < list.length; i++) {
      const item = list[i]
      if (item === undefined) this.#atLeast('cloned')
      const shape = this.#any(item)
      if (shape !== item) (copy ??= [...list])[i] = shape
    }
    return copy ?? list
  }

  #record(value: object): unknown {
    if (isPlain(value) && typeof value['toJSON'] !== 'function') return this.#members(value)
    if (isChatMessage(value)) {
      this.#atLeast('foreign')
      return this.#members(this.#messages.flatten(value).flat)
    }
    if (types.isBoxedPrimitive(value)) {
      this.#atLeast('cloned')
      return this.#any(value.valueOf())
    }
    return this.#builtIn(value) ?? this.#instance(value)
  }

  #members(record: Readonly<Record<string, unknown>>): object {
    let copy: Record<string, unknown> | undefined
    for (const key of Object.keys(record)) {
      const member = record[key]
      const shape = this.#any(member)
      if (shape !== member) (copy ??= { ...record })[key] = shape
    }
    return copy ?? record
  }

  /** An object that a structured clone keeps and JSON does not; undefined for anything else. */
  #builtIn(value: object): object | undefined {
    if (types.isMap(value)) {
      for (const [key, member] of value) {
        this.#any(key)
        this.#any(member)
      }
    } else if (types.isSet(value)) {
      for (const member of value) this.#any(member)
    } else if (types.isNativeError(value)) {
      this.#atLeast('foreign')
      return { name: value.name, message: value.message }
    } else if (!types.isDate(value) && !types.isRegExp(value) && !types.isAnyArrayBuffer(value)
      && !ArrayBuffer.isView(value)) {
      return undefined
    }
    this.#atLeast('cloned')
    return value
  }

  /** Shapes an instance of a class: its `toDict` or `toJSON`, otherwise its members. */
  #instance(value: object): unknown {
    this.#atLeast('foreign')
    if ('toDict' in value && typeof value.toDict === 'function') {
      const words: unknown = value.toDict()
      return this.#members({ ...objectOf(memberOf(words, 'data')), type: memberOf(words, 'type') })
    }
    if ('toJSON' in value && typeof value.toJSON === 'function') return this.#any(value.toJSON())
    return this.#members({ ...value })
  }

  #atLeast(fidelity: Fidelity): void {
    if (this.#fidelity !== 'foreign') this.#fidelity = fidelity
  }
}

function isPlain(value: object): value is Readonly<Record<string, unknown>> {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
