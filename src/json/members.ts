/** Reads values of unknown shape: what is not there is undefined or empty. */

import { isObject } from './containment.ts'

/** A member of an object, a list or a function; undefined if there is none. */
export function memberOf(value: unknown, name: PropertyKey): unknown {
  return hasMembers(value) ? value[name] : undefined
}

/** The member if it is text; else undefined. */
export function textAt(value: unknown, name: PropertyKey): string | undefined {
  const member = memberOf(value, name)
  return typeof member === 'string' ? member : undefined
}

/** The object itself; an empty one in the place of another value. */
export function objectOf(value: unknown): Readonly<Record<string, unknown>> {
  return isObject(value) ? value : {}
}

/** The list itself; an empty one in the place of another value. */
export function listOf(value: unknown): readonly unknown[] {
  return isList(value) ? value : []
}

/** True for a list, whatever is in it. */
export function isList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value)
}

/** True if the value is one of these. */
export function isOneOf<Value>(values: readonly Value[], value: unknown): value is Value {
  return values.some((each) => each === value)
}

function isNameIn<Table extends object>(table: Table, name: PropertyKey): name is keyof Table {
  return Object.hasOwn(table, name)
}

/** The names of a table that is written out, and so has no others than its type says. */
export function namesIn<Table extends object>(table: Table): readonly (keyof Table & string)[] {
  return Object.keys(table).filter((name) => isNameIn(table, name))
}

/** The value of a JSON text, which must be valid. */
export function valueIn(text: string): unknown {
  return JSON.parse(text)
}

/** The object in a JSON text, which must be valid; an empty one in the place of another value. */
export function objectIn(text: string): Readonly<Record<string, unknown>> {
  return objectOf(JSON.parse(text))
}

function hasMembers(value: unknown): value is Readonly<Record<PropertyKey, unknown>> {
  return typeof value === 'object' ? value !== null : typeof value === 'function'
}
