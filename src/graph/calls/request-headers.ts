/** Headers of a request in the forms that clients give them in. Pure. */

import { isObject } from '../../json/index.ts'
import type { CallHeaders } from './call.ts'

/** Changes by name in lower case; null removes a header. */
type HeaderChanges = Readonly<Record<string, string | null>>

type Pairs = readonly (readonly [name: string, value: string])[]

/** Name and value pairs of a flat list, pairs, or an object. Names are as the client wrote them. */
export function headerPairs(headers: unknown): Pairs {
  if (Array.isArray(headers) && !headers.some((each) => Array.isArray(each))) {
    return flatPairs(headers)
  }
  const entries = isIterable(headers)
    ? [...headers] as (readonly unknown[])[]
    : Object.entries(isObject(headers) ? headers : {})
  return entries.flatMap(([name, value]) => pairsOf(name, value))
}

/** The same with names in lower case. */
export function callHeaders(pairs: Pairs): CallHeaders {
  return pairs.map(([name, value]) => [name.toLowerCase(), value])
}

/** The pairs after changes. */
export function changedPairs(pairs: Pairs, changes: HeaderChanges): Pairs {
  const kept = pairs.filter(([name]) => !(name.toLowerCase() in changes))
  const set = Object.entries(changes).flatMap(([name, value]) =>
    value === null ? [] : [[name, value] as const]
  )
  return [...kept, ...set]
}

/** Pairs of a flat list: name, value, name, value. */
export function flatPairs(list: readonly unknown[]): Pairs {
  const pairs: (readonly [string, string])[] = []
  for (let at = 0; at + 1 < list.length; at += 2) pairs.push(...pairsOf(list[at], list[at + 1]))
  return pairs
}

function pairsOf(name: unknown, value: unknown): Pairs {
  if (value === undefined || value === null) return []
  const values: readonly unknown[] = Array.isArray(value) ? value : [value]
  return values.map((each) => [textOf(name), textOf(each)])
}

function textOf(value: unknown): string {
  return value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value)
}

function isIterable(value: unknown): value is Iterable<unknown> {
  return isObject(value) && Symbol.iterator in value
}
