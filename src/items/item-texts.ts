/** The texts of a value that are embedded, by their paths: as LangGraph's own store has them. */

/** `$` is the whole value; else `a.b`, `a[*].b`, `a[0]`, `a[-1]`, `{x,y}`, `*`. */
export function textsAt(value: unknown, path: string): readonly string[] {
  return path === '' || path === '$' ? [textOf(value)] : textsBelow(value, stepsOf(path))
}

/** The steps of a path: names, `[…]` and `{…}`. One that is not closed takes the rest: a name. */
function stepsOf(path: string): string[] {
  return path.match(/\[[^\]]*\]?|\{[^}]*\}?|[^.[{]+/g) ?? []
}

function textsBelow(value: unknown, steps: readonly string[]): readonly string[] {
  const [step, ...rest] = steps
  if (step === undefined) return value === null || value === undefined ? [] : [textOf(value)]
  return childrenAt(value, step).flatMap((child) => textsBelow(child, rest))
}

/** What a step leads to. */
function childrenAt(value: unknown, step: string): readonly unknown[] {
  if (step.startsWith('[') && step.endsWith(']')) {
    return Array.isArray(value) ? elementsAt(value, step.slice(1, -1)) : []
  }
  if (typeof value !== 'object' || value === null) return []
  if (step === '*') return Object.values(value)
  if (!step.startsWith('{') || !step.endsWith('}')) {
    return Object.hasOwn(value, step) ? [member(value, step)] : []
  }
  const paths = step.slice(1, -1).split(',').map((each) => stepsOf(each.trim()))
  return paths.flatMap((path) => {
    const found = path.reduce<unknown>((inside, name) => member(inside, name), value)
    return found === undefined ? [] : [found]
  })
}

function elementsAt(list: readonly unknown[], index: string): readonly unknown[] {
  if (index === '*') return list
  const found = /^-?\d+$/.test(index) ? list.at(Number(index)) : undefined
  return found === undefined ? [] : [found]
}

function member(value: unknown, name: string): unknown {
  const inside = typeof value === 'object' && value !== null && Object.hasOwn(value, name)
  return inside ? (value as Readonly<Record<string, unknown>>)[name] : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}
