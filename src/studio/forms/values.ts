/** Values of forms: how one is changed at a place, what is wrong with it, and how heavy it is. */

import type { Json, JsonObject } from '../api/client.ts'
import { isObject } from '../json/is-object.ts'
import { messageOf } from '../parts/error-message.ts'
import { fieldOf } from './schema-fields.ts'

/** The object with a property set, or without it for undefined. */
export function withProperty(value: unknown, name: string, next: unknown): object {
  const kept = isObject(value) ? value : {}
  if (next !== undefined) return { ...kept, [name]: next }
  return Object.fromEntries(Object.entries(kept).filter(([each]) => each !== name))
}

/** A property that the object itself has. */
export const property = (value: unknown, name: string): unknown =>
  isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined

/** The place of a part, as the server names it in `errors[].field`. */
export const placeOf = (above: string, name: string | number): string =>
  above === '' ? String(name) : `${above}.${name}`

/** Faults of a value, by place. The server or the graph has the last word. */
export function faultsOf(schema: unknown, value: unknown,
  root: unknown = schema): Readonly<Record<string, string>> {
  const faults: Record<string, string> = {}
  if (weight(value, checkedMax) <= checkedMax) {
    collectFaults({ schema, value, root, place: '', depth: 0 }, faults)
  }
  return faults
}

interface Checked {
  readonly schema: unknown
  readonly value: unknown
  readonly root: unknown
  readonly place: string
  readonly depth: number
}

function collectFaults({ schema, value, root, place, depth }: Checked,
  faults: Record<string, string>): void {
  if (value === undefined || value === null || depth > levelsMax) return
  const { field, schema: rules } = fieldOf(schema, root)
  const below = { root, depth: depth + 1 }
  if (field.kind === 'object' && isObject(value)) {
    for (const { name, schema: part, required } of field.parts) {
      const inner = property(value, name)
      const at = placeOf(place, name)
      if (required && inner === undefined) faults[at] = 'is required'
      else collectFaults({ ...below, schema: part, value: inner, place: at }, faults)
    }
  } else if (field.kind === 'list' && Array.isArray(value)) {
    for (const [i, inner] of value.entries()) {
      collectFaults({ ...below, schema: field.item, value: inner, place: placeOf(place, i) },
        faults)
    }
    setFault(faults, place, sizeFault(rules, value.length, 'Items', 'entries'))
  } else if (field.kind === 'number' && typeof value === 'number') {
    setFault(faults, place, numberFault(field, value))
  } else if (field.kind === 'text' && typeof value === 'string') {
    setFault(faults, place, sizeFault(rules, value.length, 'Length', 'characters'))
  }
}

/** Larger values, in characters, and deeper ones are left to the server. */
const checkedMax = 1_000_000
const levelsMax = 64

function setFault(faults: Record<string, string>, place: string, fault: string | undefined): void {
  if (fault !== undefined) faults[place] = fault
}

function numberFault(
  { whole, min = -Infinity, max = Infinity }: { readonly whole: boolean; readonly min?: number;
    readonly max?: number },
  value: number,
): string | undefined {
  if (whole && !Number.isInteger(value)) return 'must be a whole number'
  if (value < min) return `must be ${min} or more`
  return value > max ? `must be ${max} or less` : undefined
}

function sizeFault(rules: JsonObject, size: number, rule: 'Items' | 'Length', words: string):
  | string
  | undefined {
  const { [`min${rule}`]: min, [`max${rule}`]: max } = rules
  if (typeof min === 'number' && size < min) {
    return min === 1 ? 'must not be empty' : `must have ${min} ${words} or more`
  }
  return typeof max === 'number' && size > max ? `must have ${max} ${words} or less` : undefined
}

/** About how many characters a value has as JSON. It stops counting above `max`. */
export function weight(value: unknown, max: number): number {
  const waiting = [value]
  let sum = 0
  while (waiting.length > 0 && sum <= max) {
    const next = waiting.pop()
    sum += 4
    if (typeof next === 'string') sum += next.length
    if (Array.isArray(next)) {
      if (next.length > max) return next.length
      for (const each of next) waiting.push(each)
    } else if (isObject(next)) {
      for (const name of Object.keys(next)) {
        sum += name.length
        if (sum > max) break
        waiting.push(next[name])
      }
    }
  }
  return sum
}

/** The value of a text of JSON; undefined with the words of what is wrong. */
export function parseJson(text: string): { readonly value: Json } | { readonly fault: string } {
  try {
    return { value: JSON.parse(text) as Json }
  } catch (error) {
    return { fault: `This is no JSON: ${messageOf(error)}` }
  }
}
