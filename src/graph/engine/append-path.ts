/** A faster messages reducer, which appends without visiting the whole list. Most graphs append. */

import type { BaseMessage } from '@langchain/core/messages'

import { memberOf } from '../../json/index.ts'
import type { Reducer, ReducerFor, Report } from '../state/channel-updates.ts'
import { isChatMessage } from '../state/chat-message.ts'
import { isPlainAppend, reportingAppend } from '../state/plain-append.ts'

/** `messagesStateReducer` of the project's own copy, or a reducer that does the same. */
export type MessagesReducer = (left: unknown, right: unknown) => BaseMessage[]

/** Knows the library's own reducer of messages, and those that only append. */
export function knownReducers(original: MessagesReducer): ReducerFor {
  return (operator: Reducer, report) =>
    operator === original
      ? appendingReducer(original, report)
      : isPlainAppend(operator)
      ? reportingAppend(operator, report)
      : undefined
}

/** Last messages of a list that are checked for an id that was changed in place. */
const idsLookBack = 1024
/** Messages from which on they are looked for in one pass. */
const searchesMax = 4

/**
 * Returns the same as `original`. If that returned `left` itself and all new messages have new ids,
 * copies `left` without visiting more than its last elements.
 */
export function appendingReducer(original: MessagesReducer,
  report: Report = () => {}): MessagesReducer {
  const known = new WeakMap<object, SeenList>()

  const seenOf = (list: readonly unknown[], given: readonly unknown[]): SeenList | undefined => {
    const seen = known.get(list)
    return seen && hasSameIds(list, seen) && !hasAny(list, given) ? seen : see(list, original)
  }

  return (left, right) => {
    const given = [right].flat()
    const seen = Array.isArray(left) ? seenOf(left, given) : undefined
    if (!seen) return original(left, right)
    if (given.some(isRemoval)) {
      report(given)
      return original(left, right)
    }
    // Coerces what is added, gives it ids, and keeps one of each id.
    const added = original([], right)
    if (added.some(({ id }) => seen.ids.has(id!))) {
      report(given)
      return original(left, added)
    }
    report([])
    const list = (left as BaseMessage[]).concat(added)
    known.set(list, grown(seen, added))
    return list
  }
}

interface SeenList {
  /**
   * The ids of the list and maybe more: lists that grew from it, or from the same list, share the
   * set.
   */
  readonly ids: Set<string>
  /** The ids of the list in order, then maybe those of a list that grew from it. */
  readonly order: string[]
  /** Length when the list was returned. Another length now means that it was changed in place. */
  readonly length: number
}

function grown({ ids, order, length }: SeenList, added: readonly BaseMessage[]): SeenList {
  const longer = order.length === length ? order : order.slice(0, length)
  for (const { id } of added) {
    ids.add(id!)
    longer.push(id!)
  }
  return { ids, order: longer, length: longer.length }
}

/** True if no element was added in place, and no id of the last elements changed. */
function hasSameIds(list: readonly unknown[], { order, length }: SeenList): boolean {
  if (list.length !== length) return false
  for (let i = Math.max(0, length - idsLookBack); i < length; i++) {
    if (idOf(list[i]) !== order[i]) return false
  }
  return true
}

function idOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'id' in message ? message.id : undefined
}

/** True if a given object is in the list, whatever its id was. */
function hasAny(list: readonly unknown[], given: readonly unknown[]): boolean {
  const objects = given.filter((each) => typeof each === 'object' && each !== null)
  if (objects.length <= searchesMax) return objects.some((each) => list.includes(each))
  const wanted = new Set<unknown>(objects)
  return list.some((each) => wanted.has(each))
}

/**
 * Reads the ids of a list; undefined if `original` must process it. That is the case if an element
 * is not a message with an id yet, or is a chunk that newer versions of `original` turn into a
 * message.
 */
function see(list: readonly unknown[], original: MessagesReducer): SeenList | undefined {
  const order: string[] = []
  for (const message of list) {
    if (typeof message !== 'object' || message === null || !isChatMessage(message)) return undefined
    if (typeof message.id !== 'string') return undefined
    order.push(message.id)
  }
  const isSame = original(list, []).every((message, i) => message === list[i])
  return isSame ? { ids: new Set(order), order, length: order.length } : undefined
}

/** True for a RemoveMessage, in any form that the library accepts. */
function isRemoval(message: unknown): boolean {
  if (Array.isArray(message)) return message[0] === 'remove'
  return memberOf(message, 'type') === 'remove' || memberOf(message, 'role') === 'remove'
}
