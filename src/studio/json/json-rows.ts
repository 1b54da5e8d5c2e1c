/** The rows of a tree: of one value, or of two that are compared. Only open branches have rows. */

import { isObject } from './is-object.ts'
import { differenceOf } from './json-diff.ts'
import type { Difference, MemberDifference } from './json-diff.ts'
import { partOf } from './json-words.ts'
import type { JsonPath } from './json-words.ts'

/** Change of a row between two values; `inside`: something below it differs. */
export type RowSign = 'added' | 'removed' | 'changed' | 'moved' | 'inside'

/** One row of a tree of JSON. */
export interface JsonRow {
  readonly id: string
  readonly path: JsonPath
  /** 0 for the root. */
  readonly depth: number
  /** Its name in its holder; null for the root. */
  readonly name: string | number | null
  /** Its name before, where that was another: a place in a list. */
  readonly formerName: string | number | null
  readonly value: unknown
  /** The object or list that it is a member of. */
  readonly holder: unknown
  /** True if its members follow; null if it has none. */
  readonly isOpen: boolean | null
  readonly sign: RowSign | null
  /** Former value, for a row that changed. */
  readonly before: unknown
  /** Its place among its siblings, from 1, and how many these are. */
  readonly place: number
  readonly siblings: number
}

/** True if a branch is open. */
export type IsOpen = (row: Omit<JsonRow, 'isOpen'>) => boolean

type Bare = Omit<JsonRow, 'isOpen'>

/** The rows of a value. */
export function rowsOf(value: unknown, rootPath: JsonPath, isOpen: IsOpen): readonly JsonRow[] {
  const rows: JsonRow[] = []
  const waiting: Bare[] = [{ id: '', path: rootPath, depth: 0, name: null, formerName: null, value,
    holder: null, sign: null, before: undefined, place: 1, siblings: 1 }]
  for (let row = waiting.pop(); row !== undefined; row = waiting.pop()) {
    const opened = sizeOf(row.value) === 0 ? null : isOpen(row)
    rows.push({ ...row, isOpen: opened })
    if (opened === true) pushMembers(waiting, row)
  }
  return rows
}

/** Number of members of a value; 0 for values that hold none. */
const sizeOf = (value: unknown): number =>
  Array.isArray(value) ? value.length : isObject(value) ? Object.keys(value).length : 0

/** Names and values of the members, in order. */
function membersOf(value: unknown): readonly (readonly [string | number, unknown])[] {
  if (Array.isArray(value)) return value.map((each: unknown, at) => [at, each] as const)
  return isObject(value) ? Object.entries(value) : []
}

/** The last one goes in first, since the newest is taken next. */
function pushMembers(waiting: Bare[], row: Bare): void {
  const members = membersOf(row.value)
  for (let at = members.length - 1; at >= 0; at--) {
    const [name, value] = members[at]!
    const path = [...row.path, name]
    waiting.push({ id: `${row.id}/${partOf(name)}`, path, depth: row.depth + 1, name,
      formerName: name, value, holder: row.value, sign: row.sign === 'inside' ? null : row.sign,
      before: undefined, place: at + 1, siblings: members.length })
  }
}

interface Compared extends Bare {
  readonly difference: Difference
}

/** The rows of two values: those of the newer one, and what is gone where it was. */
export function comparedRows(before: unknown, after: unknown, rootPath: JsonPath,
  isOpen: IsOpen): readonly JsonRow[] {
  const difference = differenceOf(before, after)
  const rows: JsonRow[] = []
  const waiting: Compared[] = [{ id: '', path: rootPath, depth: 0, name: null, formerName: null,
    value: after, before, holder: null, sign: signOf(difference, false), place: 1, siblings: 1,
    difference }]
  for (let taken = waiting.pop(); taken !== undefined; taken = waiting.pop()) {
    const { difference, ...row } = taken
    const isWhole = difference.kind === 'changed'
    const opened = isWhole || sizeOf(row.value) === 0 && row.sign !== 'inside' ? null : isOpen(row)
    rows.push({ ...row, isOpen: opened })
    if (opened !== true) continue
    if (difference.kind === 'same') {
      const members: Bare[] = []
      pushMembers(members, row)
      for (const each of members) {
        waiting.push({ ...each, difference,
          sign: row.sign === 'added' || row.sign === 'removed' ? row.sign : null })
      }
    } else {
      const { members } = difference as { members: readonly MemberDifference[] }
      for (let at = members.length - 1; at >= 0; at--) {
        waiting.push(comparedMember(row, members[at]!, at, members.length))
      }
    }
  }
  return rows
}

function comparedMember(row: Bare, member: MemberDifference, at: number,
  siblings: number): Compared {
  const { kind, from, to, difference } = member
  const isGone = kind === 'removed'
  const name = (isGone ? from : to)!
  const path = [...row.path, name]
  // What is gone may have had the place that another one has now.
  return { id: `${row.id}/${isGone ? '-' : ''}${partOf(name)}`, path, depth: row.depth + 1, name,
    formerName: from, value: isGone ? member.before : member.after, before: member.before,
    holder: isGone ? row.before : row.value, difference, place: at + 1, siblings,
    sign: kind === 'both' ? signOf(difference, member.moved) : kind }
}

function signOf(difference: Difference, moved: boolean): RowSign | null {
  if (difference.kind === 'changed') return 'changed'
  if (difference.kind !== 'same') return 'inside'
  return moved ? 'moved' : null
}

/** Places of the rows where changes begin: rows of changes that follow each other are one. */
export const changesIn = (rows: readonly JsonRow[]): readonly number[] =>
  rows.flatMap((row, at) => isChange(row) && !isChange(rows[at - 1]) ? [at] : [])

const isChange = (row: JsonRow | undefined): boolean =>
  row !== undefined && row.sign !== null && row.sign !== 'inside'
