/** Encodes live values of graph state for the log, and decodes them. */

import { deserialize, serialize } from 'node:v8'

import type { SerializerProtocol } from '@langchain/langgraph-checkpoint'

import { Form } from '../../../proto/gen/storage/v1/value.ts'
import type { Serialized, Value } from '../../../proto/gen/storage/v1/value.ts'
import { isObject } from '../../json/index.ts'
import type { JsonText } from '../execution.ts'
import { ApiShaper } from './api-shape.ts'
import { ChatMessages, isChatMessage } from './chat-message.ts'
import type { AnyMessage, FlatMessage, MessageClasses } from './chat-message.ts'
import { hasHiddenMarks, hideMarks, showMarks } from './plain-data.ts'

/** The `Serialized.type` of bytes that V8's structured clone wrote. */
const cloneType = 'v8'

/** An encoded value, as the log holds it. */
export interface Encoded {
  readonly value: Value
  /** True if decoding gives an equal value; otherwise live and stored value may differ. */
  readonly exact: boolean
}

/** Encodes a value as it is now. */
export type Encode = (value: unknown) => Encoded

/** Makes the live value; a promise if the graph's serializer makes it. */
export type Decode = (value: Value) => unknown

/**
 * Encodes and decodes values; one for each copy of the library. A chat message is stored flat, and
 * a list of nothing but chat messages as an array of those (both FORM_MESSAGE). A value of which
 * JSON would lose something is stored twice: as the text that the API shows, and as bytes that
 * restore it.
 */
export class ValueCodec {
  readonly #messages: ChatMessages
  readonly #shaper: ApiShaper
  readonly #serde: SerializerProtocol
  readonly #unread: (error: unknown) => void

  /** `unread` is called for each value that the graph's serializer wrote but cannot read. */
  constructor(classes: MessageClasses, serde: SerializerProtocol,
    unread: (error: unknown) => void = () => {}) {
    this.#unread = unread
    this.#messages = new ChatMessages(classes)
    this.#shaper = new ApiShaper(this.#messages)
    this.#serde = serde
  }

  /** The JSON text that the API shows; `null` for a value that JSON lacks. */
  text(value: unknown): JsonText {
    return JSON.stringify(this.#shaper.shape(value).shape) ?? 'null'
  }

  /**
   * Encodes the value as it is now: later changes to it do not count. If the graph's serializer is
   * needed, `later` gets a promise, and `serialized` is set when that resolves.
   */
  encode(value: unknown, later: (done: Promise<void>) => void): Encoded {
    if (typeof value === 'object' && value !== null) {
      const messages = this.#encodeMessages(value)
      if (messages) return messages
    }
    const { shape, fidelity } = this.#shaper.shape(value)
    const json = JSON.stringify(shape) ?? 'null'
    if (fidelity === 'plain') return { value: { json, form: Form.FORM_UNSPECIFIED }, exact: true }
    const stored: Value = { json, form: Form.FORM_SERIALIZED }
    // No serializer can write it, so the log holds `undefined` in its place.
    if (typeof value === 'function' || typeof value === 'symbol') {
      stored.serialized = { type: cloneType, data: serialize(undefined) }
      return { value: stored, exact: false }
    }
    const clone = fidelity === 'cloned' ? cloneOf(value) : undefined
    if (clone) {
      stored.serialized = { type: cloneType, data: clone }
      return { value: stored, exact: true }
    }
    later(this.#serialize(value).then((serialized) => {
      stored.serialized = serialized
    }))
    return { value: stored, exact: false }
  }

  /** The live value; a promise if the graph's serializer makes it. */
  decode({ json, form, serialized }: Value): unknown {
    if (form === Form.FORM_UNSPECIFIED) return JSON.parse(json)
    if (form === Form.FORM_MESSAGE) return this.#reviveMessages(JSON.parse(json))
    if (!serialized) throw new Error('a stored value lacks its serialized form')
    if (serialized.type === cloneType) return deserialize(serialized.data)
    return this.#revive(serialized, json)
  }

  /**
   * Reads bytes. If the graph's serializer cannot read what it wrote, returns the value that the
   * API shows.
   */
  async #revive({ type, data }: Serialized, json: JsonText): Promise<unknown> {
    try {
      const value: unknown = await this.#serde.loadsTyped(type, data)
      return hasHiddenMarks(data) ? showMarks(value) : value
    } catch (error) {
      this.#unread(error)
      return JSON.parse(json)
    }
  }

  /** A chat message, or a list of nothing else, as its flat text; undefined for other values. */
  #encodeMessages(value: object): Encoded | undefined {
    if (!Array.isArray(value)) return this.#encodeMessage(value)
    if (value.length === 0) return undefined
    const texts: string[] = []
    let exact = true
    for (const element of value) {
      const encoded = isObject(element) ? this.#encodeMessage(element) : undefined
      if (!encoded) return undefined
      texts.push(encoded.value.json)
      exact &&= encoded.exact
    }
    return { value: { json: `[${texts.join(',')}]`, form: Form.FORM_MESSAGE }, exact }
  }

  #encodeMessage(value: object): Encoded | undefined {
    if (!isChatMessage(value)) return undefined
    const { flat, revival } = this.#messages.flatten(value)
    if (revival === 'no') return undefined
    const { shape, fidelity } = this.#shaper.shape(flat)
    if (fidelity !== 'plain') return undefined
    const json = JSON.stringify(shape)
    if (revival === 'uncertain' && !this.#comesBack(json)) return undefined
    return { value: { json, form: Form.FORM_MESSAGE }, exact: !saysNull(value) }
  }

  #comesBack(json: JsonText): boolean {
    const revived = this.#messages.revive(JSON.parse(json) as FlatMessage) as AnyMessage
    return JSON.stringify(this.#messages.flatten(revived).flat) === json
  }

  #reviveMessages(flat: FlatMessage | FlatMessage[]): unknown {
    if (!Array.isArray(flat)) return this.#messages.revive(flat)
    return flat.map((message) => this.#messages.revive(message))
  }

  async #serialize(value: unknown): Promise<Serialized> {
    const [type, data] = await this.#serde.dumpsTyped(hideMarks(value))
    return { type, data: Buffer.from(data) }
  }
}

/** Undefined for what only looks as if it could be cloned: a Proxy, or shared memory. */
function cloneOf(value: unknown): Buffer | undefined {
  try {
    return serialize(value)
  } catch {
    return undefined
  }
}

/** True if a member is null, which decoding makes undefined. */
function saysNull({ id, name, usage_metadata: usage }: AnyMessage): boolean {
  return id === null || name === null || usage === null
}
