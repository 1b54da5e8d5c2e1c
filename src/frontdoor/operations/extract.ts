/** Picks single values out of a thread by paths such as `values.messages[-1].content`. */

import type { JsonText } from '../../checkpoint/index.ts'
import type { ReadShare } from '../../read-quota.ts'
import type { ThreadView } from '../../thread/index.ts'

/**
 * Parses the paths once, for all threads. The result makes an object of aliases and the values that
 * their paths lead to, null if there is none. Throws as `room` does: several paths may lead to the
 * same large value.
 */
export function extractor(paths: Readonly<Record<string, string>>, room: ReadShare):
(view: ThreadView) => JsonText {
  const wanted = Object.entries(paths).map(([alias, path]) =>
    ({ name: JSON.stringify(alias), steps: stepsOf(path) }))
  return ({ row, values }) => {
    const texts: Readonly<Record<string, JsonText>> = {
      values, metadata: row.metadataJson, config: row.configJson, interrupts: row.interruptsJson,
    }
    const parsed = new Map<string, unknown>()
    const rootOf = (name: string) => {
      if (!parsed.has(name)) parsed.set(name, JSON.parse(texts[name] || '{}'))
      return parsed.get(name)
    }
    const members = wanted.map(({ name, steps: [root = '', ...steps] }) => {
      const found = steps.reduce<unknown>(stepInto, rootOf(root)) ?? null
      const member = `${name}:${JSON.stringify(found)}`
      room.take(member)
      return member
    })
    return `{${members.join(',')}}`
  }
}

/** `a.b[-1]['c d']` → a, b, -1, c d. */
function stepsOf(path: string): string[] {
  return [...path.matchAll(/\[['"]?([^[\]'"]*)['"]?\]|[^.[\]]+/g)].map(([all, key]) => key ?? all)
}

function stepInto(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(step) ? value.at(Number(step)) : null
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null
  return (value as Record<string, unknown>)[step]
}
