/** The channels of one checkpoint as stored text: apply changes, read the state as JSON. */

import type { ChannelChange, Value } from '../../proto/gen/storage/v1/value.ts'
import { assert } from '../errors.ts'
import { boundsOf } from '../json/index.ts'
import type { ListSlice, SlicePlace } from '../json/index.ts'
import type { JsonText, StoredChannel } from './tuple.ts'

/** A list and, once its JSON has been read, its elements joined by commas. */
interface ListContent {
  readonly list: readonly Value[]
  joined: string | undefined
}

interface ValueContent {
  readonly value: Value
}

type Content = ListContent | ValueContent

/**
 * The channels of one checkpoint, immutable. Applying changes gives a new view that shares what did
 * not change. Appending to a list extends its joined text too, so a growing list is never joined
 * again from the start.
 */
export class ChannelView {
  static readonly empty = new ChannelView(new Map(), 0, {})

  readonly #channels: ReadonlyMap<string, Content>
  /** Approximate bytes that the view and the earlier views since the full view hold. */
  readonly bytes: number
  /** The same object for all views since the last full one: they share what did not change. */
  readonly base: object

  private constructor(channels: ReadonlyMap<string, Content>, bytes: number, base: object) {
    this.#channels = channels
    this.bytes = bytes
    this.base = base
  }

  /** The view after a checkpoint's changes. `full` ones stand alone. */
  apply(changes: readonly ChannelChange[], full: boolean): ChannelView {
    const channels = new Map(full ? [] : this.#channels)
    for (const change of changes) {
      const content = changed(channels.get(change.channel), change)
      if (content) channels.set(change.channel, content)
      else channels.delete(change.channel)
    }
    const bytes = heldBytes(changes)
    return full
      ? new ChannelView(channels, bytes, {})
      : new ChannelView(channels, this.bytes + bytes, this.base)
  }

  /**
   * The state values as JSON: an object of the named channels, without those that are empty. For a
   * single name it is the value itself (`null` when that channel is empty). Of the lists that
   * `slices` names, only those parts are joined.
   */
  json(stateChannels: readonly string[] | string,
    slices?: ReadonlyMap<string, ListSlice>): JsonText {
    if (typeof stateChannels === 'string') {
      const content = this.#channels.get(stateChannels)
      return content ? contentJson(content) : 'null'
    }
    // Texts are added up, which does not copy long ones before they are sent. Joining would.
    let text = '{'
    for (const name of stateChannels) {
      const content = this.#channels.get(name)
      if (!content) continue
      text += `${text === '{' ? '' : ','}${JSON.stringify(name)}:`
      const slice = slices?.get(name)
      text += slice ? partJson(content, slice) : contentJson(content)
    }
    return `${text}}`
  }

  /** Places at which parts of lists begin, by channel. Channels that hold no list are left out. */
  slicePlaces(slices: ReadonlyMap<string, ListSlice>): Record<string, SlicePlace> {
    const places: Record<string, SlicePlace> = {}
    for (const [channel, slice] of slices) {
      const content = this.#channels.get(channel)
      const list = content && elementsOf(content)
      if (list) places[channel] = { from: boundsOf(slice, list.length).from, total: list.length }
    }
    return places
  }

  /** Characters of the text of all values. */
  get textBytes(): number {
    let bytes = 0
    for (const content of this.#channels.values()) {
      if ('value' in content) bytes += valueBytes(content.value)
      else for (const value of content.list) bytes += valueBytes(value)
    }
    return bytes
  }

  /** The names of the channels that hold something. */
  names(): string[] {
    return [...this.#channels.keys()]
  }

  stored(): StoredChannel[] {
    return [...this.#channels].map(([channel, content]) => ({
      channel,
      content: 'list' in content ? { list: content.list } : { value: content.value },
    }))
  }
}

/** Size of changes as they count for snapshots: the text of their values. */
export function changesBytes(changes: readonly ChannelChange[]): number {
  let bytes = 0
  for (const { change } of changes) {
    switch (change?.$case) {
      case 'set':
        bytes += valueBytes(change.value)
        break
      case 'list':
        for (const value of change.value.elements) bytes += valueBytes(value)
        break
      case 'splice':
        for (const value of change.value.insert) bytes += valueBytes(value)
        break
    }
  }
  return bytes
}

/** Size of what tasks wrote: the text of the values. */
export function writesBytes(writes: readonly { readonly value?: Value | undefined }[]): number {
  return writes.reduce((sum, { value }) => sum + (value ? valueBytes(value) : 0), 0)
}

/** The least that a step counts. */
const stepBytesMin = 256

/** As `changesBytes`, for a step since the last full one: reading the state reads its row too. */
export function stepBytes(changes: readonly ChannelChange[]): number {
  return Math.max(stepBytesMin, changesBytes(changes))
}

/** Bytes of the objects that hold a value, beside its text (measured). */
const bytesOfValue = 120

/** Memory that changes take. Text counts twice, as a list may be held joined as well. */
function heldBytes(changes: readonly ChannelChange[]): number {
  const values = changes.reduce((sum, { change }) => {
    if (change?.$case === 'list') return sum + change.value.elements.length
    return sum + (change?.$case === 'splice' ? change.value.insert.length : 1)
  }, 0)
  return 2 * changesBytes(changes) + values * bytesOfValue
}

function valueBytes(value: Value): number {
  return value.json.length + (value.serialized?.data.length ?? 0) + 8
}

function changed(before: Content | undefined, { channel, change }: ChannelChange):
  | Content
  | undefined {
  assert(change, `channel ${channel} changed in a known way`)
  switch (change.$case) {
    case 'set':
      return { value: change.value }
    case 'list':
      return { list: change.value.elements, joined: undefined }
    case 'removed':
      return undefined
    case 'splice': {
      assert(before && 'list' in before, `channel ${channel} holds a list before it is spliced`)
      return spliced(before, change.value)
    }
  }
}

function spliced(before: ListContent,
  splice: { at: number; remove: number; insert: Value[] }): ListContent {
  const list = before.list.slice(0, splice.at)
  for (const value of splice.insert) list.push(value)
  for (let i = splice.at + splice.remove; i < before.list.length; i++) list.push(before.list[i]!)
  const appended = splice.at === before.list.length
  const joined = appended && before.joined !== undefined
    ? joinElements(before.joined, splice.insert)
    : undefined
  return { list, joined }
}

function joinElements(start: string, values: readonly Value[]): string {
  let joined = start
  for (const value of values) joined += joined === '' ? value.json : `,${value.json}`
  return joined
}

function contentJson(content: Content): JsonText {
  if ('value' in content) return content.value.json
  content.joined ??= joinElements('', content.list)
  return `[${content.joined}]`
}

/** Elements of a list. A long list of short elements is stored as a single value, and parsed. */
function elementsOf(content: Content): readonly unknown[] | undefined {
  if ('list' in content) return content.list
  if (!content.value.json.startsWith('[')) return undefined
  return JSON.parse(content.value.json) as unknown[]
}

function partJson(content: Content, slice: ListSlice): JsonText {
  const list = elementsOf(content)
  if (!list) return contentJson(content)
  const { from, to } = boundsOf(slice, list.length)
  const part = list.slice(from, to)
  return 'list' in content ? `[${joinElements('', part as Value[])}]` : JSON.stringify(part)
}
