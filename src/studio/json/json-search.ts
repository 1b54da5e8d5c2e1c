/** Finds words in a value: in names and in texts, also in what is closed. */

import { isObject } from './is-object.ts'
import { pathId } from './json-words.ts'
import type { JsonPath } from './json-words.ts'

/** More places than anybody steps through are not looked for. */
const most = 1_000

/** Ids of the rows that have the words, in the order of the tree; 1 000 at most. */
export function placesOf(value: unknown, words: string): readonly string[] {
  const wanted = words.trim().toLowerCase()
  if (wanted === '') return []
  const found: string[] = []
  const waiting: { path: JsonPath; value: unknown }[] = [{ path: [], value }]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { path, value } = next
    const name = path.at(-1)
    const isNamed = typeof name === 'string' && name.toLowerCase().includes(wanted)
    if (isNamed || leafText(value).toLowerCase().includes(wanted)) {
      found.push(pathId(path))
      if (found.length === most) return found
    }
    if (Array.isArray(value)) {
      for (let at = value.length - 1; at >= 0; at--) {
        waiting.push({ path: [...path, at], value: value[at] })
      }
    } else if (isObject(value)) {
      for (const [key, each] of Object.entries(value).reverse()) {
        waiting.push({ path: [...path, key], value: each })
      }
    }
  }
  return found
}

const leafText = (value: unknown): string =>
  typeof value === 'object' && value !== null ? '' : String(value)

/** Ids of all branches that must be open for a row to be seen. */
export function branchesAbove(id: string): readonly string[] {
  const above = []
  for (let end = id.lastIndexOf('/'); end >= 0; end = id.lastIndexOf('/', end - 1)) {
    above.push(id.slice(0, end))
    if (end === 0) break
  }
  return above
}
