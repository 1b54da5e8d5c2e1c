/** A faster messages reducer, which appends without visiting the whole list. Most graphs use it. */

import type { BaseMessage } from '@langchain/core/messages'

import { isChatMessage } from './chat-message.ts'
import type { ServedGraph } from './graph-export.ts'

/** `messagesStateReducer` of the project's own copy, or one that does the same. */
export type MessagesReducer = (left: unknown, right: unknown) => BaseMessage[]

type Channels = ServedGraph['channels']
type Aggregate = Channels[string] & { readonly operator?: unknown }

/** Gives graphs channels that append faster, if their reducer is the library's own. */
export class AppendPath {
  readonly #original: MessagesReducer
  readonly #reducer: MessagesReducer
  readonly #channels = new WeakMap<ServedGraph, Channels>()

  constructor(original: MessagesReducer) {
    this.#original = original
    this.#reducer = appendingReducer(original)
  }

  channelsOf(graph: ServedGraph): Channels {
    const known = this.#channels.get(graph)
    if (known) return known
    const channels = { ...graph.channels }
    for (const [name, channel] of Object.entries(graph.channels) as [string, Aggregate][]) {
      if (channel.operator !== this.#original) continue
      const prototype = Object.getPrototypeOf(channel) as object
      channels[name] = Object.assign(Object.create(prototype) as Aggregate, channel,
        { operator: this.#reducer })
    }
    this.#channels.set(graph, channels)
    return channels
  }
}

/**
 * Same results as `original`. If it returned `left` itself and all new messages have new ids,
 * `left` is copied without visiting its elements.
 */
export function appendingReducer(original: MessagesReducer): MessagesReducer {
  const known = new WeakMap<object, SeenList>()

  const idsOf = (list: readonly unknown[]): Set<string> | undefined => {
    const seen = known.get(list)
    return seen?.length === list.length ? seen.ids : idsIn(list, original)
  }

  return (left, right) => {
    const ids = Array.isArray(left) ? idsOf(left) : undefined
    if (!ids || [right].flat().some(isRemoval)) return original(left, right)
    // Coerces what is added, gives it ids, and keeps one of each id.
    const added = original([], right)
    if (added.some(({ id }) => ids.has(id!))) return original(left, added)
    const list = (left as BaseMessage[]).concat(added)
    for (const { id } of added) ids.add(id!)
    known.set(list, { ids, length: list.length })
    return list
  }
}

interface SeenList {
  /** Its ids and maybe more: lists that grew from it, or from the same list, share the set. */
  readonly ids: Set<string>
  /** At the time it was returned: another length now means it was changed in place. */
  readonly length: number
}

/**
 * Undefined if an element is not a message with an id yet, or is a chunk that newer versions of
 * `original` turn into a message: then `original` must process the list.
 */
function idsIn(list: readonly unknown[], original: MessagesReducer): Set<string> | undefined {
  const ids = new Set<string>()
  for (const message of list) {
    if (typeof message !== 'object' || message === null || !isChatMessage(message)) return undefined
    if (typeof message.id !== 'string') return undefined
    ids.add(message.id)
  }
  return original(list, []).every((message, i) => message === list[i]) ? ids : undefined
}

/** Whether this is a RemoveMessage, in any form that the library accepts. */
function isRemoval(message: unknown): boolean {
  if (Array.isArray(message)) return message[0] === 'remove'
  const { type, role } = (message ?? {}) as { type?: unknown; role?: unknown }
  return type === 'remove' || role === 'remove'
}
