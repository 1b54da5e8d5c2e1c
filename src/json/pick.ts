/** Picks single values out of a document. Pure. */

import { isObject } from './containment.ts'

/** Keys of objects, and places in lists; `-1` is the last. */
export type Path = readonly string[]

/** The JSON text of the value at each path; `null` if there is none. */
export function pick(document: unknown, paths: readonly Path[]): string[] {
  return paths.map((path) => JSON.stringify(path.reduce<unknown>(stepInto, document) ?? null))
}

function stepInto(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(step) ? value.at(Number(step)) : null
  return isObject(value) && Object.hasOwn(value, step) ? value[step] : null
}
