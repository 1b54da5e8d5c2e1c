/** Appending to a list of messages without looking at all of it: the reducer of most graphs. */

import type { BaseMessage } from '@langchain/core/messages'

import { isChatMessage } from './chat-message.ts'
import type { ServedGraph } from './graph-export.ts'

/** `messagesStateReducer` of the project's own copy, or one that does the same. */
export type MessagesReducer = (left: unknown, right: unknown) => BaseMessage[]

type Channels = ServedGraph['channels']
type Aggregate = Channels[string] & { readonly operator?: unknown }

/** Gives graphs channels that append faster, where the reducer is the library's own. */
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
 * Does what `original` does. A list that it has seen before is only copied, not visited, where
 * messages with new ids are added to it.
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
  /** At least its ids: lists that grew from it, or from the same one, share the set. */
  readonly ids: Set<string>
  /** When it was seen: with another length now, it was changed in place. */
  readonly length: number
}

/**
 * Undefined where something is not a message with an id yet, or is a piece of one that a newer
 * original makes whole: the original reducer has to see the list first.
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

/** Whether it removes a message, in any form in which a message may be given. */
function isRemoval(message: unknown): boolean {
  if (Array.isArray(message)) return message[0] === 'remove'
  const { type, role } = (message ?? {}) as { type?: unknown; role?: unknown }
  return type === 'remove' || role === 'remove'
}
