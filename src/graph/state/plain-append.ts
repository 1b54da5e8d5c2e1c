/** Recognises a reducer that only appends, by its source. */

import type { Reducer, Report } from './channel-updates.ts'

const sourceMax = 200
const [left, right] = ['<', '>']

const lefts = both([left, `${left}??[]`, `${left}||[]`])
const rights = both([right, `${right}??[]`, `${right}||[]`,
  `Array.isArray(${right})?${right}:[${right}]`])

/** All that plain appends return, in terms of their parameters and without blanks. */
const appends: ReadonlySet<string> = new Set([
  ...lefts.filter((list) => list === left || list.startsWith('('))
    .flatMap((list) => rights.map((added) => `${list}.concat(${added})`)),
  ...lefts.flatMap((
    list,
  ) => [...rights.map((added) => `[...${list},...${added}]`), `[...${list},${right}]`]),
])

/**
 * True for a reducer that is written as `a.concat(b)`, `[...a, ...b]` or the like, and nothing
 * else.
 */
export function isPlainAppend(operator: Reducer): boolean {
  const source = Function.prototype.toString.call(operator)
  if (source.length > sourceMax || source.includes('/')) return false
  const text = source.replaceAll(/\s/g, '')
  const shape = /^[\w$]*\(([\w$]+)(?:=\[\])?,([\w$]+)(?:=\[\])?\)(?:=>)?/.exec(text)
  if (!shape) return false
  const [head, first, second] = shape
  const names = new Map([[first, left], [second, right]])
  const body = bodyOf(text.slice(head.length))
  if (first === second || body.includes(left) || body.includes(right)) return false
  return appends.has(body.replaceAll(/[\w$]+/g, (name) => names.get(name) ?? name))
}

/** The same appending reducer, which also reports what was added. */
export function reportingAppend(operator: Reducer, report: Report): Reducer {
  return (before, added) => {
    const list = operator(before, added)
    if (isPlainList(before) && isPlainList(list)) report([added])
    return list
  }
}

/** An arrow's expression, or what a block returns. */
function bodyOf(text: string): string {
  if (!text.startsWith('{return')) return text
  return text.slice('{return'.length, text.endsWith(';}') ? -2 : -1)
}

function both(texts: readonly string[]): string[] {
  return texts.flatMap((text) => [text, `(${text})`])
}

function isPlainList(value: unknown): boolean {
  return Array.isArray(value) && Object.getPrototypeOf(value) === Array.prototype
}
