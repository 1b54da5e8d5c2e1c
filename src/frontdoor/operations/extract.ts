/** Picks single values out of a thread by paths such as `values.messages[-1].content`. */

import type { ThreadView } from '../../thread/index.ts'

/** Alias to what its path leads to; null where it leads nowhere. */
export function extract(view: ThreadView, paths: Readonly<Record<string, string>>):
  Record<string, unknown> {
  const { row } = view
  const texts = {
    values: view.values, metadata: row.metadataJson, config: row.configJson,
    interrupts: row.interruptsJson,
  }
  const parsed = new Map<string, unknown>()
  const rootOf = (name: string) => {
    if (!parsed.has(name)) parsed.set(name, JSON.parse(texts[name as keyof typeof texts] || '{}'))
    return parsed.get(name)
  }
  return Object.fromEntries(Object.entries(paths).map(([alias, path]) => {
    const [root = '', ...steps] = stepsOf(path)
    return [alias, steps.reduce<unknown>(stepInto, rootOf(root)) ?? null]
  }))
}

/** `a.b[-1]['c d']` → a, b, -1, c d. */
function stepsOf(path: string): string[] {
  return [...path.matchAll(/\[['"]?([^\]'"]*)['"]?\]|[^.[\]]+/g)].map(([all, key]) => key ?? all)
}

function stepInto(value: unknown, step: string): unknown {
  if (Array.isArray(value)) return /^-?\d+$/.test(step) ? value.at(Number(step)) : null
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return null
  return (value as Record<string, unknown>)[step]
}
