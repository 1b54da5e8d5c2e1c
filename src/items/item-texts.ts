/** The texts of a value that are embedded, by their paths: as LangGraph's own store has them. */

import { memberOf } from '../json/index.ts'
import { fault } from './item-rules.ts'

/** Characters of a path, and of all texts of an item. */
const [pathMax, charactersMax] = [512, 8 * 1024 * 1024]
/** Values that all paths may lead to, on their way too: `{a,a}` doubles them at each step. */
const valuesMax = 50_000

/**
 * The texts at the paths, each once. A path is `$` for the whole value; else `a.b`, `a[*].b`,
 * `a[0]`, `a[-1]`, `{x,y}`, `*`. Throws `invalid` for paths that lead to too much.
 */
export function textsAt(value: unknown, paths: readonly string[]): readonly string[] {
  const texts = new Set<string>()
  let [values, characters] = [0, 0]
  const count = () => {
    if (++values > valuesMax) throw fault('index', `leads to more than ${valuesMax} values`)
  }
  for (const path of new Set(paths)) {
    if (path.length > pathMax) throw fault('index', `must have paths of ${pathMax} characters`)
    for (const found of valuesAt(value, path, count)) {
      const text = textOf(found)
      characters += texts.has(text) ? 0 : text.length
      if (characters > charactersMax) {
        throw fault('index', `names texts of more than ${charactersMax} characters`)
      }
      texts.add(text)
    }
  }
  return [...texts]
}

/** The values at a path, each object once. `count` is called for every value on the way. */
function valuesAt(value: unknown, path: string, count: () => void): Iterable<unknown> {
  let values = new Set([value])
  if (path === '' || path === '$') return values
  for (const step of stepsOf(path)) {
    const next = new Set<unknown>()
    for (const each of values) {
      for (const child of childrenAt(each, step)) {
        count()
        next.add(child)
      }
    }
    values = next
  }
  return [...values].filter((each) => each !== null && each !== undefined)
}

/** The steps of a path: names, `[…]` and `{…}`. One that is not closed takes the rest: a name. */
function stepsOf(path: string): string[] {
  return path.match(/\[[^\]]*\]?|\{[^}]*\}?|[^.[{]+/g) ?? []
}

/** Values to which one step of a path leads. */
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
    .filter(({ length }) => length > 0)
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
  return inside ? memberOf(value, name) : undefined
}

function textOf(value: unknown): string {
  return typeof value === 'object' ? JSON.stringify(value, null, 2) : String(value)
}
