/** Filters of items and conditions on namespaces, with the semantics of LangGraph's own store. */

import { isDeepStrictEqual } from 'node:util'

import type { ItemRow } from '../../proto/gen/storage/v1/row.ts'
import { isObject } from '../json/index.ts'
import type { Namespace, NamespaceCondition, NamespaceQuery } from './item-index.ts'

type Operator = (value: unknown, wanted: unknown) => boolean

const isSame: Operator = (value, wanted) => value === wanted || isDeepStrictEqual(value, wanted)
const isIn: Operator = (value, wanted) =>
  Array.isArray(wanted) && wanted.some((each) => isSame(value, each))

const operators: Readonly<Record<string, Operator>> = {
  $eq: isSame,
  $ne: (value, wanted) => !isSame(value, wanted),
  $gt: (value, wanted) => Number(value) > Number(wanted),
  $gte: (value, wanted) => Number(value) >= Number(wanted),
  $lt: (value, wanted) => Number(value) < Number(wanted),
  $lte: (value, wanted) => Number(value) <= Number(wanted),
  $in: isIn,
  $nin: (value, wanted) => !isIn(value, wanted),
}

/** True if each condition of the filter holds for the value. */
export function passes(value: Readonly<Record<string, unknown>>,
  filter: Readonly<Record<string, unknown>>): boolean {
  return Object.entries(filter).every(([key, wanted]) =>
    holds(Object.hasOwn(value, key) ? value[key] : undefined, wanted)
  )
}

/** True if each word is somewhere in the labels, the key or the value, as these are written. */
export function hasWords(
  { namespace, key, valueJson }: Pick<ItemRow, 'namespace' | 'key' | 'valueJson'>,
  words: readonly string[],
): boolean {
  const name = [...namespace, key].join('\n').toLowerCase()
  const value = valueJson.toLowerCase()
  return words.every((word) => {
    const wanted = word.toLowerCase()
    // In JSON some characters are written otherwise.
    return name.includes(wanted) || value.includes(JSON.stringify(wanted).slice(1, -1))
  })
}

function holds(value: unknown, wanted: unknown): boolean {
  if (!isObject(wanted) || !Object.keys(wanted).every((key) => Object.hasOwn(operators, key))) {
    return isSame(value, wanted)
  }
  return Object.entries(wanted).every(([name, each]) => operators[name]!(value, each))
}

/** A page of namespaces out of some that may repeat. */
export function pageOfNamespaces(all: Iterable<Namespace>,
  { conditions, maxDepth, limit, offset }: NamespaceQuery): Namespace[] {
  const found = new Map<string, Namespace>()
  for (const namespace of all) {
    if (!conditions.every((each) => matches(namespace, each))) continue
    const cut = namespace.slice(0, maxDepth)
    found.set(JSON.stringify(cut), cut)
  }
  return [...found.values()].sort(byLabels).slice(offset, offset + limit)
}

function matches(namespace: Namespace, { matchType, path }: NamespaceCondition): boolean {
  const from = matchType === 'prefix' ? 0 : namespace.length - path.length
  if (path.length > namespace.length) return false
  return path.every((label, index) => label === '*' || label === namespace[from + index])
}

function byLabels(one: Namespace, other: Namespace): number {
  for (const [index, label] of one.entries()) {
    const against = other[index]
    if (against === undefined) return 1
    if (label !== against) return label < against ? -1 : 1
  }
  return one.length - other.length
}
