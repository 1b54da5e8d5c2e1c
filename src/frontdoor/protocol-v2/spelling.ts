/** The two spellings of params: `assistant_id` and `assistantId`. Pure. */

import { isObject } from '../../json/index.ts'

type Json = Readonly<Record<string, unknown>>

/** The named members, by their names in snake case, which wins. Unknown ones are left out. */
export function membersOf(params: unknown, names: readonly string[]): Json {
  if (!isObject(params)) return {}
  return Object.fromEntries(names.flatMap((name) => {
    const key = [name, camelCase(name)].find((each) =>
      Object.hasOwn(params, each) && params[each] !== undefined
    )
    return key === undefined ? [] : [[name, params[key]] as const]
  }))
}

function camelCase(name: string): string {
  return name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
}
