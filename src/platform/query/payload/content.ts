/** Content of a payload: each member is parsed once, when it is first needed. */

import { isObject } from '../../../json/index.ts'
import type { Payload, PayloadField } from '../../spans/payload.ts'

/** A payload, and its members as values. */
export interface Content {
  readonly payload: Payload
  /** Value of a member; undefined if it is missing or not JSON. */
  value(field: PayloadField): unknown
}

/** A payload to look into. */
export function contentOf(payload: Payload): Content {
  const values = new Map<PayloadField, unknown>()
  return {
    payload,
    value(field) {
      if (!values.has(field)) values.set(field, parsed(payload[field]))
      return values.get(field)
    },
  }
}

function parsed(json: Buffer | undefined): unknown {
  if (json === undefined) return undefined
  try {
    return JSON.parse(json.toString())
  } catch {
    return undefined
  }
}

/** The metadata of a span. */
export function metadataOf(content: Content): Readonly<Record<string, unknown>> {
  const extra = content.value('extra')
  const metadata = isObject(extra) ? extra['metadata'] : undefined
  return isObject(metadata) ? metadata : {}
}

/** A value inside an object, with the path to it. */
export type Entry = readonly [key: string, value: unknown]

/** Levels of objects and lists that are looked through. */
const depthMax = 30

/** All values inside a value. Keys are joined by dots; elements of a list have the key of it. */
export function* entriesIn(value: unknown, path = '', depth = 0): Generator<Entry, void, void> {
  if (path !== '' || typeof value !== 'object') yield [path, value]
  if (typeof value !== 'object' || value === null || depth === depthMax) return
  if (Array.isArray(value)) {
    for (const each of value) yield* entriesIn(each, path, depth + 1)
    return
  }
  for (const [key, each] of Object.entries(value)) {
    yield* entriesIn(each, path === '' ? key : `${path}.${key}`, depth + 1)
  }
}
