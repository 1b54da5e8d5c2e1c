/**
 * Keeps plain data plain in the library's serializer. The serializer takes an object with a key
 * `lc` for one that it wrote itself in the place of an instance, and makes that instance again. A
 * key `__proto__` it loses.
 */

import { types } from 'node:util'

/** These keys, and how they are written here. */
const marked = /^(?:lc|__proto__)\0*$/
const written = /^(?:lc|__proto__)\0+$/
const writtenJson = ['"lc\\u0000', '"__proto__\\u0000']

/** The value as the serializer may have it: the same one if it has no such key. */
export function hideMarks(value: unknown): unknown {
  return hasMark(value, new Set()) ? hidden(value, new Map()) : value
}

/** True if `showMarks` has to be called on what the serializer reads from these bytes. */
export function hasHiddenMarks(data: Uint8Array): boolean {
  const bytes = Buffer.from(data.buffer, data.byteOffset, data.byteLength)
  return writtenJson.some((text) => bytes.includes(text))
}

/** Undoes `hideMarks` in what the serializer made, also inside of instances. */
export function showMarks(value: unknown): unknown {
  return shown(value, new Map())
}

function hasMark(value: unknown, seen: Set<object>): boolean {
  if (typeof value !== 'object' || value === null || seen.has(value)) return false
  seen.add(value)
  if (isPlain(value) && Object.keys(value).some((key) => marked.test(key))) return true
  return partsOf(value).some((part) => hasMark(part, seen))
}

/** A copy. `made` has the copy of each object, so that circles stay circles. */
function hidden(value: unknown, made: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (made.has(value)) return made.get(value)
  const within = (part: unknown) => hidden(part, made)
  if (Array.isArray(value)) {
    return filled<unknown[]>(made, value, [], (list) => {
      for (const each of value) list.push(within(each))
    })
  }
  if (types.isMap(value)) {
    return filled(made, value, new Map(), (map) => {
      for (const [key, member] of value) map.set(within(key), within(member))
    })
  }
  if (types.isSet(value)) {
    return filled(made, value, new Set(), (set) => {
      for (const each of value) set.add(within(each))
    })
  }
  if (isPlain(value)) {
    return filled(made, value, {}, (copy) => {
      for (const [key, member] of Object.entries(value)) {
        define(copy, marked.test(key) ? `${key}\0` : key, within(member))
      }
    })
  }
  if ('toJSON' in value && typeof value.toJSON === 'function') {
    return hiddenWords(value.toJSON(), within)
  }
  if (!hasFields(value)) return value
  const empty: object = Object.create(Object.getPrototypeOf(value))
  return filled(made, value, empty, (copy) => {
    for (const [key, part] of Object.entries(value)) define(copy, key, within(part))
  })
}

/** Serialized form of an instance, with its parts hidden. The mark on top is the instance's own. */
function hiddenWords(words: unknown, within: (part: unknown) => unknown): unknown {
  if (typeof words !== 'object' || words === null || !isPlain(words)) return within(words)
  return Object.fromEntries(Object.entries(words).map(([key, part]) => [key, within(part)]))
}

function shown(value: unknown, made: Map<object, unknown>): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (made.has(value)) return made.get(value)
  const within = (part: unknown) => shown(part, made)
  if (isPlain(value) && Object.keys(value).some((key) => written.test(key))) {
    return filled(made, value, {}, (copy) => {
      for (const [key, member] of Object.entries(value)) {
        define(copy, written.test(key) ? key.slice(0, -1) : key, within(member))
      }
    })
  }
  made.set(value, value)
  if (types.isMap(value)) {
    const entries = [...value].map(([key, member]) => [within(key), within(member)] as const)
    value.clear()
    for (const [key, member] of entries) value.set(key, member)
  } else if (types.isSet(value)) {
    const members = [...value].map(within)
    value.clear()
    for (const member of members) value.add(member)
  } else if (hasFields(value)) {
    for (const [key, part] of Object.entries(value)) {
      const changed = within(part)
      if (changed !== part) value[key] = changed
    }
  }
  return value
}

function filled<Copy extends object>(made: Map<object, unknown>, original: object, copy: Copy,
  fill: (copy: Copy) => void): Copy {
  made.set(original, copy)
  fill(copy)
  return copy
}

function partsOf(value: object): unknown[] {
  if (types.isMap(value)) return [...value].flat()
  if (types.isSet(value)) return [...value]
  return hasFields(value) ? Object.values(value) : []
}

/** False for errors, whose members are not serialized, and for bytes, whose members are numbers. */
function hasFields(value: object): value is Record<string, unknown> {
  return !ArrayBuffer.isView(value) && !types.isNativeError(value) && !types.isRegExp(value)
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

/** Defines a member, also for a key such as `__proto__`. */
function define(object: object, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true,
    configurable: true })
}
