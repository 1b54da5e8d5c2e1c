/** Writes of an edit of a state: only the channels that differ, as the graph takes them. */

import type { Json, JsonObject } from '../../api/client.ts'
import { isObject } from '../../json/is-object.ts'
import { idOf, isEqual } from '../../json/json-diff.ts'
import { messageWords } from '../../json/json-words.ts'
import { messageOf } from '../../parts/error-message.ts'

/** An edit, read from a text. */
export type Edit =
  | { readonly kind: 'fault'; readonly fault: string }
  | {
    readonly kind: 'edit'
    /** The channels that differ, with their new values. */
    readonly wanted: JsonObject
    /** Channels that the text leaves out: they stay as they are. */
    readonly missing: readonly string[]
  }

/** Reads an edit of a state. */
export function readEdit(before: JsonObject, text: string): Edit {
  let after: unknown
  try {
    after = JSON.parse(text)
  } catch (error) {
    return { kind: 'fault', fault: `This is no JSON yet: ${messageOf(error)}` }
  }
  if (!isObject(after)) {
    return { kind: 'fault', fault: 'A state is an object: a value for each channel.' }
  }
  return { kind: 'edit', wanted: Object.fromEntries(
    Object.entries(after).filter(([name, value]) =>
      !Object.hasOwn(before, name) || !isEqual(before[name], value)
    ),
  ) as JsonObject, missing: Object.keys(before).filter((name) => !Object.hasOwn(after, name)) }
}

/** Body of an edit. Messages that are gone are named, or their channel would keep them. */
export const writesOf = (before: JsonObject, wanted: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(wanted).map((
      [name, value],
    ): [string, Json] => [name,
      Array.isArray(value) ? [...removals(before[name], value), ...value] : value]
    ),
  )

function removals(before: Json | undefined, after: readonly Json[]): readonly Json[] {
  if (!Array.isArray(before)) return []
  const kept = new Set(after.map(idOf))
  return before.filter((each: Json) =>
    messageWords(each) !== null && idOf(each) !== null
    && !kept.has(idOf(each))
  ).map((each: Json): Json => ({ type: 'remove', id: idOf(each)! }))
}

/** Channels that are not what was written: a reducer merged it into what they held. */
export const mergedChannels = (wanted: JsonObject, now: JsonObject): readonly string[] =>
  Object.keys(wanted).filter((name) => !isEqual(now[name], wanted[name]))

/** Writes that take the place of what a channel with a reducer holds. */
export const overwrites = (wanted: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.map((name) => [name, { __overwrite__: wanted[name]! }]))
