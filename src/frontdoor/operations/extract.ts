/** Picks single values out of a thread by paths such as `values.messages[-1].content`. */

import type { JsonText } from '../../checkpoint/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { ReadShare } from '../../limits/index.ts'
import type { ThreadView } from '../../thread/index.ts'

/**
 * Parses the paths once, for all threads. The result makes an object of aliases and the values at
 * their paths, null where there is none. Throws as `quota` does, since several paths may lead to
 * the same large value.
 */
export function extractor(paths: Readonly<Record<string, string>>, quota: ReadShare,
  json: Pick<LongJson, 'pick'>): (view: ThreadView) => Promise<JsonText> {
  const wanted = Object.entries(paths).map(([alias, path]) => {
    const [root = '', ...steps] = stepsOf(path)
    return { name: JSON.stringify(alias), root, steps }
  })
  return async ({ row, values }) => {
    const texts: Readonly<Record<string, JsonText>> = {
      values,
      metadata: row.metadataJson,
      config: row.configJson,
      interrupts: row.interruptsJson,
    }
    const found = new Map<string, JsonText>()
    for (const root in texts) {
      const asked = wanted.filter((each) => each.root === root)
      if (asked.length === 0) continue
      const steps = asked.map((each) => each.steps)
      const picked = await json.pick(row.tenant, texts[root] || '{}', steps)
      for (const [at, text] of picked.entries()) found.set(asked[at]!.name, text)
    }
    const members = wanted.map(({ name }) => {
      const member = `${name}:${found.get(name) ?? 'null'}`
      quota.take(member)
      return member
    })
    return `{${members.join(',')}}`
  }
}

/** Steps of a path: `a.b[-1]['c d']` → a, b, -1, c d. */
function stepsOf(path: string): string[] {
  return [...path.matchAll(/\[['"]?([^[\]'"]*)['"]?\]|[^.[\]]+/g)].map(([all, key]) => key ?? all)
}
