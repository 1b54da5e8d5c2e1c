/** Notices that an object was changed in place, by looking at it again within bounds. */

import { isChatMessage } from './chat-message.ts'
import type { AnyMessage } from './chat-message.ts'

/** Look of an object at a time: its members, then those of the objects among them, and so on. */
export interface Print {
  readonly seen: readonly unknown[]
  /** Number of members in `seen` that are of the object itself. */
  readonly own: number
  /** The parts that are looked at, if it is a message. */
  readonly parts: readonly string[] | undefined
}

/**
 * own   the members of the object itself
 * deep  its first members, at any depth
 */
export type Look = 'own' | 'deep'

/** Members after which a print ends, with the object that reaches this number. */
const seenMax = 256

/** Print of a value as it is now; undefined for a value that cannot be changed in place. */
export function printOf(value: unknown): Print | undefined {
  if (!isObject(value)) return undefined
  const seen: unknown[] = []
  addMembers(seen, value)
  const own = seen.length
  for (let i = 0; i < seen.length && seen.length < seenMax; i++) {
    const member = seen[i]
    if (isObject(member)) addMembers(seen, member)
  }
  return { seen, own, parts: isChatMessage(value) ? partsOf(value) : undefined }
}

/** True if a value still looks as it did. */
export function looksLike(value: unknown, print: Print | undefined, look: Look): boolean {
  if (print === undefined) return true
  const { seen, own, parts } = print
  let end = parts
    ? compareParts(value as AnyMessage, seen, parts)
    : compare(value as object, seen, 0)
  if (look === 'own' || end !== own) return end === own
  for (let i = 0; i < end && end < seenMax; i++) {
    const member = seen[i]
    if (!isObject(member)) continue
    end = compare(member, seen, end)
    if (end < 0) return false
  }
  return end === seen.length
}

const parts = ['content', 'id', 'name', 'additional_kwargs', 'response_metadata']
const aiParts = [...parts, 'tool_calls', 'usage_metadata']
const toolParts = [...parts, 'artifact', 'status']

/** The parts that its class has. To ask for a member that does not exist takes long. */
function partsOf(message: AnyMessage): readonly string[] {
  return 'tool_calls' in message ? aiParts : 'tool_call_id' in message ? toolParts : parts
}

function addMembers(seen: unknown[], object: object): void {
  if (Array.isArray(object)) {
    seen.push(object.length)
    for (let i = 0; i < object.length && i < seenMax; i++) seen.push(object[i])
  } else if (isPlain(object)) {
    let room = seenMax
    for (const key in object) {
      if (room-- === 0) return
      seen.push(key, object[key])
    }
  } else {
    for (const member of membersOf(object)) seen.push(member)
  }
}

/** Members of what is neither a list nor a plain object. */
function membersOf(object: object): unknown[] {
  if (isChatMessage(object)) return partsOf(object).map((part) => object[part])
  if (object instanceof Map || object instanceof Set) return [object.size, ...firstOf(object)]
  if (object instanceof Date) return [object.getTime()]
  return ArrayBuffer.isView(object) ? [] : Object.entries(object).slice(0, seenMax).flat()
}

function firstOf(entries: Map<unknown, unknown> | Set<unknown>): unknown[] {
  const first: unknown[] = []
  for (const [key, member] of entries.entries()) {
    if (first.push(key, member) >= seenMax) break
  }
  return first
}

/** Index after the members that equal those from `at` on; -1 if they differ. */
function compare(object: object, seen: readonly unknown[], at: number): number {
  let end = at
  if (Array.isArray(object)) {
    if (object.length !== seen[end++]) return -1
    const length = Math.min(object.length, seenMax)
    for (let i = 0; i < length; i++) if (!Object.is(object[i], seen[end++])) return -1
    return end
  }
  if (isPlain(object)) {
    let room = seenMax
    for (const key in object) {
      if (room-- === 0) return end
      if (key !== seen[end++] || !Object.is(object[key], seen[end++])) return -1
    }
    return end
  }
  for (const member of membersOf(object)) if (!Object.is(member, seen[end++])) return -1
  return end
}

function compareParts(now: AnyMessage, seen: readonly unknown[], names: readonly string[]): number {
  const isSame = now.content === seen[0] && now.id === seen[1] && now.name === seen[2]
    && now.additional_kwargs === seen[3] && now.response_metadata === seen[4]
    && (names !== aiParts || (now.tool_calls === seen[5] && now.usage_metadata === seen[6]))
    && (names !== toolParts || (now.artifact === seen[5] && now.status === seen[6]))
  return isSame ? names.length : -1
}

function isPlain(object: object): object is Record<string, unknown> {
  return Object.getPrototypeOf(object) === Object.prototype
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null
}
