/** Members of a langgraph.json, by their paths. */

import { memberOf } from '../../json/index.ts'

/** The member at a path of steps joined by dots; undefined if there is none. */
export function memberAt(config: unknown, path: string): unknown {
  return path.split('.').reduce(memberOf, config)
}

/** False for what templates write of keys that they do not use: null, false, `{}` and so on. */
export function asksForSomething(value: unknown): boolean {
  return Boolean(value) && !(typeof value === 'object' && Object.keys(value!).length === 0)
}
