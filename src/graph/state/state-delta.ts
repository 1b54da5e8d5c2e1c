/** The changes of one checkpoint against the one before it. */

import type { ChannelChange } from '../../../proto/gen/storage/v1/value.ts'
import { memberOf } from '../../json/index.ts'
import type { JsonText, StoredChannel } from '../execution.ts'
import { KnownList } from './known-list.ts'
import type { List } from './known-list.ts'
import { KnownValue } from './known-value.ts'
import type { Decode, Encode } from './value-codec.ts'

/** Values of channels, by name. */
export type ChannelValues = Record<string, unknown>

/** Knowledge of the writes to channels since their last checkpoint. */
export interface Written {
  /** True if the engine has written the channel. */
  isNew(channel: string): boolean
  /**
   * The updates that made `list` of `base`; undefined if they are not known. Their reducer leaves
   * alone what they do not contain.
   */
  updates(list: List, base: List): List | undefined
  /**
   * True if code of the graph may have run, which may have changed in place what it did not write.
   */
  readonly byTasks: boolean
}

/**
 * Length from which on a list of small elements is stored as one value. Each element stored
 * separately costs a reader some 120 bytes beside a text of one or two.
 */
const crowdLength = 65_536
/** Characters below which a string counts as small. */
const smallStringLength = 32

/**
 * The channels of one checkpoint as live values. `advance` moves on to the next checkpoint and says
 * what changed. Content of an update is compared by its bytes. Elements of a list that no update
 * contains are compared by identity, if the reducer leaves these alone. So a long list costs what
 * was added to it. Changes in place without an update are noticed within bounds.
 */
export class KnownChannels {
  readonly #channels = new Map<string, KnownList | KnownValue>()

  /** The channels as read from the log. */
  static async of(stored: readonly StoredChannel[], decode: Decode): Promise<KnownChannels> {
    const known = new KnownChannels()
    for (const { channel, content } of stored) {
      known.#channels.set(channel, 'list' in content
        ? await KnownList.loaded(content.list, decode)
        : await KnownValue.loaded(content.value, decode))
    }
    return known
  }

  has(channel: string): boolean {
    return this.#channels.has(channel)
  }

  /** The values for an engine, never our own copies of lists. */
  values(): ChannelValues {
    const values: ChannelValues = {}
    for (const [channel, known] of this.#channels) values[channel] = known.live()
    return values
  }

  /**
   * The stored values as JSON: those of these channels, that of the one alone, or all if it is
   * null.
   */
  text(channels: readonly string[] | string | null): JsonText {
    if (typeof channels === 'string') return this.#channels.get(channels)?.text() ?? 'null'
    const names = channels ?? [...this.#channels.keys()]
    const members = names.flatMap((name) => {
      const known = this.#channels.get(name)
      return known === undefined ? [] : [`${JSON.stringify(name)}:${known.text()}`]
    })
    return `{${members.join(',')}}`
  }

  /** Starts over from `values`. The changes state every channel. */
  restate(values: ChannelValues, encode: Encode): ChannelChange[] {
    this.#channels.clear()
    return Object.entries(values).flatMap(([channel, value]) =>
      value === undefined ? [] : [this.#state(channel, value, encode)]
    )
  }

  advance(values: ChannelValues, written: Written, encode: Encode): ChannelChange[] {
    const changes: ChannelChange[] = []
    for (const channel of this.#channels.keys()) {
      if (values[channel] !== undefined) continue
      this.#channels.delete(channel)
      changes.push({ channel, change: { $case: 'removed', value: true } })
    }
    for (const channel in values) {
      const value = values[channel]
      if (value === undefined) continue
      changes.push(...this.#change(channel, value, written, encode))
    }
    return changes
  }

  /** True if a value was changed in place since it was stored, as far as that is checked. */
  touched(): boolean {
    for (const known of this.#channels.values()) if (known.isTouched()) return true
    return false
  }

  /** True if a value was changed in place since it was stored, anywhere. */
  differs(encode: Encode): boolean {
    for (const known of this.#channels.values()) if (known.differs(encode)) return true
    return false
  }

  /** Replaces values that came from the graph by what decoding gives, as after a reload. */
  async settle(decode: Decode): Promise<void> {
    for (const known of this.#channels.values()) await known.settle(decode)
  }

  #state(channel: string, value: unknown, encode: Encode): ChannelChange {
    if (isList(value)) {
      const known = KnownList.encoded(value, encode)
      this.#channels.set(channel, known)
      return { channel, change: { $case: 'list', value: { elements: known.stored } } }
    }
    const known = KnownValue.encoded(value, encode)
    this.#channels.set(channel, known)
    return { channel, change: { $case: 'set', value: known.stored } }
  }

  #change(channel: string, value: unknown, { isNew, updates, byTasks }: Written,
    encode: Encode): ChannelChange[] {
    const known = this.#channels.get(channel)
    if (known instanceof KnownList && isList(value)) {
      const { length, last } = known
      const mentioned = isNew(channel) ? updates(value, last) : []
      const splices = known.change(value, mentioned, byTasks, encode)
      if (splices[0]?.at === 0 && splices[0].remove === length) {
        return [{ channel, change: { $case: 'list', value: { elements: known.stored } } }]
      }
      return splices.map((splice) => ({ channel, change: { $case: 'splice', value: splice } }))
    }
    if (known instanceof KnownValue && !isList(value)) {
      const stored = known.change(value, isNew(channel), byTasks, encode)
      return stored ? [{ channel, change: { $case: 'set', value: stored } }] : []
    }
    return [this.#state(channel, value, encode)]
  }
}

/** True if the value is stored element by element. */
function isList(value: unknown): value is List {
  return Array.isArray(value) && !(value.length > crowdLength && value.every(isSmall))
}

/** True for a small scalar, and for a plain object or list that holds at most one. */
function isSmall(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return isSmallScalar(value)
  const prototype: unknown = Object.getPrototypeOf(value)
  if (prototype !== Object.prototype && prototype !== Array.prototype) return false
  let members = 0
  for (const name in value) {
    if (++members > 1 || !isSmallScalar(name) || !isSmallScalar(memberOf(value, name))) return false
  }
  return true
}

function isSmallScalar(value: unknown): boolean {
  return typeof value === 'string'
    ? value.length < smallStringLength
    : typeof value !== 'object' || value === null
}
