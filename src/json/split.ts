/**
 * Splits a parsed document into the small part that the server reads and the part that it only
 * carries, which stays text. Pure.
 */

import { HeddleError } from '../errors.ts'

/**
 * The members that are carried, by name. With 0 the member is one text. With more, its own members
 * are, so many levels deep, and the names on the way can be read. A name with an object of such
 * rules is looked into; a list there is looked into item by item.
 */
export interface Carried {
  readonly [name: string]: number | Carried
}

/** A carried value, as its JSON text. */
export interface Piece {
  readonly path: readonly (string | number)[]
  readonly text: string
}

/** A document in its two parts. */
export interface Split {
  /** JSON in which the pieces are null. */
  readonly rest: string
  readonly pieces: readonly Piece[]
}

/** Characters below which a value is not worth a piece. */
const shortPiece = 256
/** Pieces of a document. An object or list with more members is one piece. */
const piecesMax = 10_000
/** Characters and values of the rest, which is parsed at once. */
const restMax = { characters: 1024 * 1024, values: 50_000 }

type Path = readonly (string | number)[]

/** Splits a document. Throws `invalid` if too much would have to be read. `what` names it. */
export function split(what: string, document: unknown, carried: Carried | number): Split {
  const pieces: Piece[] = []
  const carry = (value: unknown, depth: number, path: Path): unknown => {
    const text = JSON.stringify(value)
    if (text.length <= shortPiece) return value
    if (depth > 0 && typeof value === 'object' && value !== null) {
      const isOpen = Object.keys(value).length <= piecesMax
      if (isOpen) return rebuilt(value, (each, name) => carry(each, depth - 1, [...path, name]))
    }
    pieces.push({ path, text })
    if (pieces.length > piecesMax) {
      throw new HeddleError('invalid', `${what} has more than ${piecesMax} long parts.`)
    }
    return null
  }
  const look = (value: unknown, rules: Carried, path: Path): unknown => {
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((each, at) => look(each, rules, [...path, at]))
    return rebuilt(value, (each, name) => {
      const rule = Object.hasOwn(rules, name) ? rules[name] : undefined
      if (rule === undefined) return each
      const place = [...path, name]
      return typeof rule === 'number' ? carry(each, rule, place) : look(each, rule, place)
    })
  }
  const seen = typeof carried === 'number'
    ? carry(document, carried, [])
    : look(document, carried, [])
  const rest = JSON.stringify(seen)
  if (rest.length > restMax.characters || isLong(seen)) throw tooMuch(what, seen)
  return { rest, pieces }
}

/** The same members, each as `change` makes it. */
function rebuilt(value: object, change: (each: unknown, name: string | number) => unknown): object {
  if (Array.isArray(value)) return value.map(change)
  return Object.fromEntries(
    Object.entries(value).map(([name, each]) => [name, change(each, name)] as const),
  )
}

function isLong(value: unknown): boolean {
  let left = restMax.values
  const count = (each: unknown): boolean => {
    if (--left < 0) return true
    return typeof each === 'object' && each !== null && Object.values(each).some(count)
  }
  return count(value)
}

/** The error, which names the longest member. */
function tooMuch(what: string, seen: unknown): HeddleError {
  const isNamed = typeof seen === 'object' && seen !== null && !Array.isArray(seen)
  const members = isNamed ? Object.entries(seen) : []
  const lengths = members.map(([name, each]) => ({ name, length: JSON.stringify(each).length }))
  const [longest] = lengths.toSorted((one, other) => other.length - one.length)
  const field = longest?.name ?? ''
  const message = `may be 1 MB of JSON with ${restMax.values} values at most`
  return new HeddleError('invalid', `${longest ? field : what}: ${message}.`, {
    errors: [{ field, message }],
  })
}
