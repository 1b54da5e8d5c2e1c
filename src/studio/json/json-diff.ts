/** Differences between two values of JSON. Members of lists are matched by their ids. */

import { isObject } from './is-object.ts'

/** Difference by which one value became the other. */
export type Difference =
  | { readonly kind: 'same' }
  | { readonly kind: 'changed'; readonly after: unknown }
  | { readonly kind: 'object'; readonly members: readonly MemberDifference[] }
  | { readonly kind: 'list'; readonly members: readonly MemberDifference[] }

/** A member of an object or a list: in both, or in one of them. */
export interface MemberDifference {
  readonly kind: 'both' | 'added' | 'removed'
  /** Former place: a key, or an index in the list; null for an added member. */
  readonly from: string | number | null
  /** Present place: a key, or an index in the list; null for a removed member. */
  readonly to: string | number | null
  readonly before: unknown
  readonly after: unknown
  readonly difference: Difference
  /** It is the same member at another place among the others. */
  readonly moved: boolean
}

const same: Difference = { kind: 'same' }

/** Deeper than this, values are compared whole. */
const deepest = 400

/** Difference that makes `after` of `before`. */
export function differenceOf(before: unknown, after: unknown, depth = 0): Difference {
  if (before === after) return same
  if (depth >= deepest) return isEqual(before, after) ? same : { kind: 'changed', after }
  if (Array.isArray(before) && Array.isArray(after)) return listDifference(before, after, depth)
  if (isObject(before) && isObject(after)) return objectDifference(before, after, depth)
  return { kind: 'changed', after }
}

/** Applies a difference to the value that it begins with. Returns the other value. */
export function applied(before: unknown, difference: Difference): unknown {
  switch (difference.kind) {
    case 'same':
      return before
    case 'changed':
      return difference.after
    case 'list':
      return difference.members.filter(({ kind }) => kind !== 'removed').map(memberValue)
    case 'object':
      return Object.fromEntries(
        difference.members.filter(({ kind }) => kind !== 'removed')
          .map((member) => [member.to, memberValue(member)]),
      )
  }
}

const memberValue = (member: MemberDifference): unknown =>
  member.kind === 'added' ? member.after : applied(member.before, member.difference)

function objectDifference(before: Readonly<Record<string, unknown>>,
  after: Readonly<Record<string, unknown>>, depth: number): Difference {
  const removed = Object.keys(before).filter((key) => !Object.hasOwn(after, key))
    .map((key) => lone('removed', key, before[key]))
  const kept = Object.keys(after).map((key) =>
    Object.hasOwn(before, key)
      ? both(key, key, before[key], after[key], false, depth)
      : lone('added', key, after[key])
  )
  const members = [...kept, ...removed]
  return members.every(isUntouched) ? same : { kind: 'object', members }
}

/** Equal ends are matched by place, the middle by id, and what has no id by its place there. */
function listDifference(before: readonly unknown[], after: readonly unknown[],
  depth: number): Difference {
  const sources = matched(before, after)
  const taken = new Set(sources)
  const members: MemberDifference[] = []
  let next = 0
  /** The removed ones that follow each other from a place on. */
  const removedFrom = (place: number) => {
    for (next = place; next < before.length && !taken.has(next); next++) {
      members.push(lone('removed', next, before[next]))
    }
  }
  const shown = new Set<number>()
  removedFrom(0)
  let highest = -1
  for (const [to, from] of sources.entries()) {
    if (from === undefined) {
      members.push(lone('added', to, after[to]))
      continue
    }
    members.push(both(from, to, before[from], after[to], from < highest, depth))
    highest = Math.max(highest, from)
    if (!shown.has(from)) removedFrom(from + 1)
    shown.add(from)
  }
  return members.every(isUntouched) ? same : { kind: 'list', members }
}

/** For each member of `after` the place of its like in `before`. */
function matched(before: readonly unknown[],
  after: readonly unknown[]): readonly (number | undefined)[] {
  const sources = new Array<number | undefined>(after.length).fill(undefined)
  const shorter = Math.min(before.length, after.length)
  let start = 0
  while (start < shorter && isEqual(before[start], after[start])) sources[start] = start++
  let tail = 0
  while (tail < shorter - start &&
    isEqual(before[before.length - 1 - tail], after[after.length - 1 - tail])) {
    tail++
    sources[after.length - tail] = before.length - tail
  }
  const ids = placesById(before, start, before.length - tail)
  const own = placesById(after, start, after.length - tail)
  const nameless = range(start, before.length - tail).filter((at) => idAt(before, at, ids) === null)
  for (const to of range(start, after.length - tail)) {
    const id = idAt(after, to, own)
    sources[to] = id === null ? nameless.shift() : ids.get(id) ?? undefined
  }
  return sources
}

/** Places by id; null for an id that occurs twice. */
function placesById(list: readonly unknown[], start: number,
  end: number): ReadonlyMap<string, number | null> {
  const places = new Map<string, number | null>()
  for (const at of range(start, end)) {
    const id = idOf(list[at])
    if (id !== null) places.set(id, places.has(id) ? null : at)
  }
  return places
}

function idAt(list: readonly unknown[], at: number, places: ReadonlyMap<string, number | null>):
  | string
  | null {
  const id = idOf(list[at])
  return id !== null && places.get(id) === at ? id : null
}

/** The id of a member of a list, if it has one. */
export function idOf(value: unknown): string | null {
  if (!isObject(value)) return null
  const { id } = value
  return typeof id === 'string' && id !== '' ? id : null
}

const range = (start: number, end: number): readonly number[] =>
  Array.from({ length: Math.max(0, end - start) }, (_, at) => start + at)

const isUntouched = ({ kind, difference, moved }: MemberDifference): boolean =>
  kind === 'both' && difference.kind === 'same' && !moved

function lone(kind: 'added' | 'removed', name: string | number, value: unknown): MemberDifference {
  const isAdded = kind === 'added'
  return { kind, from: isAdded ? null : name, to: isAdded ? name : null, moved: false,
    before: isAdded ? undefined : value, after: isAdded ? value : undefined, difference: same }
}

function both(from: string | number, to: string | number, before: unknown, after: unknown,
  moved: boolean, depth: number): MemberDifference {
  return { kind: 'both', from, to, before, after, moved,
    difference: differenceOf(before, after, depth + 1) }
}

/** True if two values of JSON are alike; the order of keys does not matter. */
export function isEqual(one: unknown, other: unknown): boolean {
  const pairs: [unknown, unknown][] = [[one, other]]
  for (let pair = pairs.pop(); pair !== undefined; pair = pairs.pop()) {
    const [a, b] = pair
    if (a === b) continue
    if (Array.isArray(a) && Array.isArray(b) && a.length === b.length) {
      for (const [at, value] of a.entries()) pairs.push([value, b[at]])
    } else if (isObject(a) && isObject(b)) {
      const keys = Object.keys(a)
      if (keys.length !== Object.keys(b).length) return false
      for (const key of keys) {
        if (!Object.hasOwn(b, key)) return false
        pairs.push([a[key], b[key]])
      }
    } else return false
  }
  return true
}
