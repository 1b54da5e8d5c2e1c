/** The objects that a value contains, at any depth. */

import { isChatMessage } from './chat-message.ts'

/**
 * All objects in a value. Messages are not looked into, as lists have no parts of them as elements.
 */
export function objectsIn(value: unknown): Set<object> {
  const found = new Set<object>()
  const open: unknown[] = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next !== 'object' || next === null || found.has(next)) continue
    found.add(next)
    if (isChatMessage(next) || ArrayBuffer.isView(next)) continue
    for (const member of membersOf(next)) open.push(member)
  }
  return found
}

function membersOf(object: object): Iterable<unknown> {
  if (Array.isArray(object)) return object
  if (object instanceof Map) return [...object.keys(), ...object.values()]
  if (object instanceof Set) return object
  return Object.values(object)
}
