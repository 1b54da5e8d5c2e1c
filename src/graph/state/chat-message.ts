/** Converts chat messages to the API's flat form, and makes messages from that JSON again. */

import type * as Messages from '@langchain/core/messages'

import { memberOf, objectOf } from '../../json/index.ts'

/**
 * The part of `@langchain/core/messages` that messages are made with, in the project's own copy.
 */
export type MessageClasses = Pick<typeof Messages,
  'AIMessage' | 'AIMessageChunk' | 'HumanMessage' | 'SystemMessage' | 'ToolMessage'>

/** A message of any copy of the library, with the members of all classes. */
export type AnyMessage = Record<string, unknown> & {
  readonly lc_kwargs: Record<string, unknown>
  /** Missing in copies before version 1. */
  readonly type?: string
  _getType(): string
  toDict(): { readonly type: string; readonly data: Record<string, unknown> }
}

/** A message in the form that the API shows. */
export type FlatMessage = Record<string, unknown>

/**
 * yes        the text of the shape makes the same message again, if its members are plain JSON
 * uncertain  it may do so: try
 * no         something would be lost
 */
export type Revival = 'yes' | 'uncertain' | 'no'

/** A message in its flat form, and whether that makes the same message again. */
export interface Flattened {
  readonly flat: FlatMessage
  readonly revival: Revival
}

type Maker = (fields: Record<string, unknown>) => unknown

interface MessageForm {
  /** Number of own properties of an instance. The flat text would lose any others. */
  readonly ownKeys: number
  /** Constructor arguments that the flat text holds. */
  readonly kwargs: ReadonlySet<string>
  readonly flatten: (message: AnyMessage) => FlatMessage
  /** True if the constructor may not reproduce the members of the message exactly. */
  readonly uncertain: boolean
}

const chunks = 'tool_call_chunks'
const baseKwargs = ['content', 'additional_kwargs', 'response_metadata', 'id', 'name', 'example']
const aiKwargs = [...baseKwargs, 'tool_calls', 'invalid_tool_calls', 'usage_metadata']
const toolKwargs = [...baseKwargs, 'tool_call_id', 'status', 'artifact', 'metadata']

const baseKeys = ['lc_serializable', 'lc_kwargs', 'lc_namespace', 'id', 'name', 'content',
  'additional_kwargs', 'response_metadata', 'type']
const aiKeys = [...baseKeys, 'tool_calls', 'invalid_tool_calls', 'usage_metadata']
const toolKeys = [...baseKeys, 'lc_direct_tool_output', 'status', 'tool_call_id', 'metadata',
  'artifact']

/** Fields that the API shows as `null` if a message lacks them. */
const statedAsNull: ReadonlySet<string> = new Set(['id', 'name', 'usage_metadata'])

/** Knows the message classes of one copy of the library. */
export class ChatMessages {
  readonly #forms = new Map<unknown, MessageForm>()
  readonly #makers: Readonly<Record<string, Maker>>

  constructor(classes: MessageClasses) {
    const { HumanMessage, SystemMessage, AIMessage, ToolMessage, AIMessageChunk } = classes
    this.#learn(HumanMessage, baseKeys, baseKwargs, flatHuman)
    this.#learn(SystemMessage, baseKeys, baseKwargs, flatBase)
    this.#learn(AIMessage, aiKeys, aiKwargs, flatAi)
    this.#learn(ToolMessage, toolKeys, toolKwargs, flatTool)
    this.#learn(AIMessageChunk, [...aiKeys, chunks], [...aiKwargs, chunks], flatAiChunk, true)
    this.#makers = {
      human: (fields) => new HumanMessage(fields),
      system: (fields) => new SystemMessage(fields),
      // A model that streams answers with the sum of its chunks, which is a chunk itself.
      ai: (fields) => chunks in fields ? new AIMessageChunk(fields) : new AIMessage(fields),
      tool: (fields) => new ToolMessage(fields as never),
    }
  }

  /** The flat shape. Its members are the message's own, not copied. */
  flatten(message: AnyMessage): Flattened {
    if (isV1(message)) return { flat: flatV1(message), revival: 'no' }
    const form = this.#forms.get(message.constructor)
    if (form === undefined || !isOrdinary(message, form)) {
      return { flat: flatForeign(message), revival: 'no' }
    }
    return { flat: form.flatten(message), revival: form.uncertain ? 'uncertain' : 'yes' }
  }

  /** Makes the message of a flat shape that `flatten` found revivable. */
  revive(flat: FlatMessage): unknown {
    const { type, ...rest } = flat
    const fields: Record<string, unknown> = {}
    for (const key in rest) {
      const stated = rest[key] === null && statedAsNull.has(key)
      if (!stated && !(key === 'example' && rest[key] === false)) fields[key] = rest[key]
    }
    const make = this.#makers[String(type)]
    if (!make) throw new Error(`a stored message is of an unknown type: ${String(type)}`)
    return make(fields)
  }

  /** Registers a class, but only if this copy of the library gives it no members unknown to us. */
  #learn(messageClass: new(fields: never) => unknown, keys: readonly string[],
    kwargs: readonly string[], flatten: MessageForm['flatten'], uncertain = false): void {
    const sample = new messageClass({ content: '', tool_call_id: '' } as never) as object
    const own = Object.keys(sample)
    if (!own.every((key) => keys.includes(key))) return
    const form = { ownKeys: own.length, kwargs: new Set(kwargs), flatten, uncertain }
    this.#forms.set(messageClass, form)
  }
}

/** Any object: it may have these members. */
interface Candidate {
  readonly _getType?: unknown
  readonly toDict?: unknown
  readonly lc_kwargs?: unknown
}

/** True for a message of any copy of the library, chunks included. */
export function isChatMessage(value: Candidate): value is AnyMessage {
  return typeof value._getType === 'function' && typeof value.toDict === 'function'
    && typeof value.lc_kwargs === 'object'
}

/** True if the message has no members or constructor arguments beyond those of its class. */
function isOrdinary(message: AnyMessage, { ownKeys, kwargs }: MessageForm): boolean {
  if (Object.keys(message).length !== ownKeys) return false
  for (const key in message.lc_kwargs) if (!kwargs.has(key)) return false
  return true
}

/**
 * True for content of version 1, whose constructor arguments are not what it shows. A model adds
 * all members of the message that it converts, and the blocks may stand in the place of the
 * content.
 */
function isV1({ response_metadata: metadata }: AnyMessage): boolean {
  return memberOf(metadata, 'output_version') !== undefined
}

function flatBase(message: AnyMessage): FlatMessage {
  return {
    type: message.type ?? message._getType(),
    content: message.content,
    additional_kwargs: message.additional_kwargs,
    response_metadata: message.response_metadata,
    id: message.id ?? null,
    name: message.name ?? null,
  }
}

function flatHuman(message: AnyMessage): FlatMessage {
  const flat = flatBase(message)
  flat.example = message.lc_kwargs.example ?? false
  return flat
}

function flatAi(message: AnyMessage): FlatMessage {
  const flat = flatHuman(message)
  flat.tool_calls = message.tool_calls
  flat.invalid_tool_calls = message.invalid_tool_calls
  flat.usage_metadata = message.usage_metadata ?? null
  return flat
}

function flatAiChunk(message: AnyMessage): FlatMessage {
  const flat = flatAi(message)
  flat[chunks] = message[chunks]
  return flat
}

function flatTool(message: AnyMessage): FlatMessage {
  const flat = flatBase(message)
  flat.tool_call_id = message.tool_call_id
  for (const key of ['status', 'artifact', 'metadata']) {
    if (message[key] !== undefined) flat[key] = message[key]
  }
  return flat
}

/** Uses `toDict`, for a message of another class or copy of the library, or with extra members. */
function flatForeign(message: AnyMessage): FlatMessage {
  const { type, data } = message.toDict()
  const shown = objectOf(unescaped(data))
  return { ...shown, type, id: shown['id'] ?? null, name: shown['name'] ?? null }
}

/** Removes the wrapping that the library gives to plain data that looks like its own. */
function unescaped(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(unescaped)
  if (!isPlain(value)) return value
  const keys = Object.keys(value)
  if (keys.length === 1 && keys[0] === '__lc_escaped__') return value.__lc_escaped__
  return Object.fromEntries(keys.map((key) => [key, unescaped(value[key])]))
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
    && Object.getPrototypeOf(value) === Object.prototype
}

const flatByType: ReadonlyMap<string, MessageForm['flatten']> = new Map([['human', flatHuman], [
  'ai',
  flatAi,
], ['tool', flatTool]])

/** The members of the message, and those of its arguments that are not its own. */
function flatV1(message: AnyMessage): FlatMessage {
  const { type, data } = message.toDict()
  const flat = (flatByType.get(type) ?? flatBase)(message)
  for (const name of Object.keys(data)) {
    const isOwn = Object.hasOwn(flat, name) || name.startsWith('lc_') || name === 'content_blocks'
    if (!isOwn) flat[name] = unescaped(data[name])
  }
  return flat
}
