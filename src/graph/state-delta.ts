/** What one checkpoint changed against the one before it, element by element. */

import type { ChannelChange, Value } from '../../proto/gen/storage/v1/value.ts'
import { isChatMessage } from './chat-message.ts'
import type { StoredChannel } from './execution.ts'
import type { Encoded } from './value-codec.ts'

export type ChannelValues = Record<string, unknown>
export type Encode = (value: unknown) => Encoded
export type Decode = (value: Value) => unknown

interface KnownList {
  readonly kind: 'list'
  /** The engine's list: returned again while it still has the same elements. */
  live: readonly unknown[]
  /** Our own copy: a reducer may change the engine's list in place. */
  readonly elements: unknown[]
  /** By element: how it looked when it was encoded. */
  readonly prints: Print[]
  /** Elements that decoding would not reproduce exactly, with their stored values. */
  readonly inexact: Map<unknown, Value>
}

interface KnownValue {
  readonly kind: 'value'
  live: unknown
  json: string
  inexact: Value | undefined
}

/** A value whose JSON is no longer than this is encoded again to notice changes in place. */
const smallTextLength = 4096
/** Elements other than messages are checked for changes in place in lists of at most this many. */
const smallListLength = 256
/**
 * Only this many of a list's last elements are checked for changes in place, so that a turn costs
 * the same at any age. The next full checkpoint has the changes of older ones.
 */
const lookBack = 256
/**
 * A longer list of small elements is stored as one value: each element stored separately costs a
 * reader some 120 bytes beside a text of one or two.
 */
const crowdLength = 65_536
/** Shorter strings count as small. */
const smallStringLength = 32

/**
 * The channels of one checkpoint as live values. `advance` moves on to the next checkpoint and says
 * what changed. It compares identities, so that a long list costs what was added to it.
 */
export class KnownChannels {
  readonly #channels = new Map<string, KnownList | KnownValue>()

  /** As read from the log. */
  static async of(stored: readonly StoredChannel[], decode: Decode): Promise<KnownChannels> {
    const known = new KnownChannels()
    for (const { channel, content } of stored) {
      known.#channels.set(channel, 'list' in content
        ? listOf(await Promise.all(content.list.map(decode)))
        : { kind: 'value', live: await decode(content.value), json: content.value.json,
            inexact: undefined })
    }
    return known
  }

  has(channel: string): boolean {
    return this.#channels.has(channel)
  }

  /** The values for an engine: never our own copies of lists. */
  values(): ChannelValues {
    const values: ChannelValues = {}
    for (const [channel, known] of this.#channels) {
      if (known.kind === 'list' && !isSameList(known.elements, known.live)) {
        known.live = known.elements.slice()
      }
      values[channel] = known.live
    }
    return values
  }

  /** Starts over from `values`: the changes state every channel. */
  restate(values: ChannelValues, encode: Encode): ChannelChange[] {
    this.#channels.clear()
    return Object.entries(values).flatMap(([channel, value]) =>
      value === undefined ? [] : [this.#state(channel, value, encode)])
  }

  /** `isNew`: whether the engine has written the channel since. */
  advance(values: ChannelValues, isNew: (channel: string) => boolean, encode: Encode):
    ChannelChange[] {
    const changes: ChannelChange[] = []
    for (const channel of this.#channels.keys()) {
      if (values[channel] !== undefined) continue
      this.#channels.delete(channel)
      changes.push({ channel, change: { $case: 'removed', value: true } })
    }
    for (const channel in values) {
      const value = values[channel]
      if (value === undefined) continue
      const known = this.#channels.get(channel)
      const change = known?.kind === 'list' && isList(value)
        ? this.#changeList(channel, known, value, isNew(channel), encode)
        : known?.kind === 'value' && !isList(value)
          ? changeValue(channel, known, value, isNew(channel), encode)
          : this.#state(channel, value, encode)
      if (change) changes.push(change)
    }
    return changes
  }

  /** Whether a value was changed in place since it was encoded, as far as that is checked. */
  touched(encode: Encode): boolean {
    for (const known of this.#channels.values()) {
      if (known.kind === 'list') {
        if (lastTouched(known, known.elements.length) >= 0) return true
      } else if (isTouched(known, encode)) {
        return true
      }
    }
    return false
  }

  /** True if a live value is not what decoding the stored one would give. */
  get inexact(): boolean {
    for (const known of this.#channels.values()) {
      if (known.kind === 'list' ? known.inexact.size > 0 : known.inexact) return true
    }
    return false
  }

  /** Replaces inexact values by what decoding gives, as after a reload. */
  async settle(decode: Decode): Promise<void> {
    for (const known of this.#channels.values()) {
      if (known.kind === 'value') {
        if (known.inexact) known.live = await decode(known.inexact)
        known.inexact = undefined
      } else if (known.inexact.size > 0) {
        await settleList(known, decode)
      }
    }
  }

  #state(channel: string, value: unknown, encode: Encode): ChannelChange {
    if (isList(value)) {
      const known = listOf([])
      known.live = value
      this.#channels.set(channel, known)
      const list = { elements: replace(known, { at: 0, remove: 0, insert: value }, encode) }
      return { channel, change: { $case: 'list', value: list } }
    }
    const { value: stored, exact } = encode(value)
    const inexact = exact ? undefined : stored
    this.#channels.set(channel, { kind: 'value', live: value, json: stored.json, inexact })
    return { channel, change: { $case: 'set', value: stored } }
  }

  #changeList(channel: string, known: KnownList, value: readonly unknown[], isNew: boolean,
    encode: Encode): ChannelChange | undefined {
    known.live = value
    const difference = spliceOf(known, value, isNew)
    if (!difference) return undefined
    const { at, remove } = difference
    if (at === 0 && remove === known.elements.length) return this.#state(channel, value, encode)
    const insert = replace(known, difference, encode)
    return { channel, change: { $case: 'splice', value: { at, remove, insert } } }
  }
}

/** Whether it is stored element by element. */
function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && !(value.length > crowdLength && value.every(isSmall))
}

/** A small scalar, or a plain object or list that holds at most one. */
function isSmall(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isSmallScalar(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) return false
  let members = 0
  for (const name in value) {
    const member = (value as Record<string, unknown>)[name]
    if (++members > 1 || !isSmallScalar(name) || !isSmallScalar(member)) return false
  }
  return true
}

function isSmallScalar(value: unknown): boolean {
  return typeof value === 'string' ? value.length < smallStringLength
    : typeof value !== 'object' || value === null
}

interface Difference {
  readonly at: number
  readonly remove: number
  readonly insert: readonly unknown[]
}

/** What lies between the common start and the common end of two lists. */
function spliceOf(known: KnownList, after: readonly unknown[], isNew: boolean):
  Difference | undefined {
  const { elements } = known
  const shorter = Math.min(elements.length, after.length)
  let at = 0
  while (at < shorter && elements[at] === after[at]) at += 1
  if (isNew) at = firstTouched(known, at)
  if (at === shorter && elements.length === after.length) return undefined
  let end = 0
  const [before, now] = [elements.length - 1, after.length - 1]
  while (end < shorter - at && elements[before - end] === after[now - end]) end += 1
  if (isNew) end = Math.min(end, before - lastTouched(known, elements.length))
  return { at, remove: elements.length - at - end, insert: after.slice(at, after.length - end) }
}

/** The first element before `end` that was changed in place; `end` for none. */
function firstTouched({ elements, prints }: KnownList, end: number): number {
  for (let i = Math.max(0, elements.length - lookBack); i < end; i++) {
    if (!looksLike(elements[i], prints[i])) return i
  }
  return end
}

/** The last one before `end`; -1 for none. */
function lastTouched({ elements, prints }: KnownList, end: number): number {
  const from = Math.max(0, elements.length - lookBack)
  for (let i = end - 1; i >= from; i--) if (!looksLike(elements[i], prints[i])) return i
  return -1
}

/** Changes our own copy and returns the encoded new elements. */
function replace(known: KnownList, { at, remove, insert }: Difference, encode: Encode): Value[] {
  const { elements, prints, inexact } = known
  const lookInto = elements.length - remove + insert.length <= smallListLength
  const removed = elements.splice(at)
  const laterElements = removed.splice(remove)
  const laterPrints = prints.splice(at).slice(remove)
  const stored: Value[] = []
  for (const element of insert) {
    const { value, exact } = encode(element)
    if (exact) inexact.delete(element)
    else inexact.set(element, value)
    stored.push(value)
    elements.push(element)
    prints.push(printOf(element, lookInto))
  }
  for (const element of laterElements) elements.push(element)
  for (const print of laterPrints) prints.push(print)
  for (const element of removed) {
    // The list may have had it more than once.
    if (inexact.has(element) && !elements.includes(element)) inexact.delete(element)
  }
  return stored
}

function changeValue(channel: string, known: KnownValue, value: unknown, isNew: boolean,
  encode: Encode): ChannelChange | undefined {
  const mayDiffer = isNew && typeof value === 'object' && value !== null
  if (Object.is(known.live, value) && !mayDiffer) return undefined
  const { value: stored, exact } = encode(value)
  known.live = value
  if (stored.json === known.json && exact && !known.inexact && !stored.serialized) return undefined
  known.json = stored.json
  known.inexact = exact ? undefined : stored
  return { channel, change: { $case: 'set', value: stored } }
}

function isTouched({ live, json, inexact }: KnownValue, encode: Encode): boolean {
  if (typeof live !== 'object' || live === null || json.length > smallTextLength) return false
  return inexact === undefined && encode(live).value.json !== json
}

function listOf(elements: unknown[]): KnownList {
  const lookInto = elements.length <= smallListLength
  const prints = elements.map((element) => printOf(element, lookInto))
  return { kind: 'list', live: [], elements, prints, inexact: new Map() }
}

function isSameList(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((element, i) => Object.is(element, b[i]))
}

async function settleList({ elements, prints, inexact }: KnownList, decode: Decode): Promise<void> {
  for (let i = 0; i < elements.length; i++) {
    const stored = inexact.get(elements[i])
    if (!stored) continue
    elements[i] = await decode(stored)
    prints[i] = printOf(elements[i], elements.length <= smallListLength)
  }
  inexact.clear()
}

/** The members that are compared to notice a change in place; undefined if none are. */
type Print = MessagePrint | readonly unknown[] | undefined

interface MessagePrint {
  readonly content: unknown
  readonly id: unknown
  readonly name: unknown
  readonly additional_kwargs: unknown
  readonly response_metadata: unknown
  readonly tool_calls: unknown
}

function printOf(element: unknown, lookInto: boolean): Print {
  if (typeof element !== 'object' || element === null) return undefined
  if (!isChatMessage(element)) return lookInto ? Object.values(element) : undefined
  const { content, id, name, additional_kwargs, response_metadata, tool_calls } = element
  return { content, id, name, additional_kwargs, response_metadata, tool_calls }
}

function looksLike(element: unknown, print: Print): boolean {
  if (print === undefined) return true
  if (Array.isArray(print)) {
    const members = Object.values(element as object)
    return members.length === print.length && members.every((member, i) =>
      Object.is(member, print[i]))
  }
  const message = element as MessagePrint
  const before = print as MessagePrint
  return message.content === before.content && message.id === before.id
    && message.name === before.name && message.additional_kwargs === before.additional_kwargs
    && message.response_metadata === before.response_metadata
    && message.tool_calls === before.tool_calls
}
