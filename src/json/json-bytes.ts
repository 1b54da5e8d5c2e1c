/**
 * Looks through JSON in UTF-8 without parsing it: checks it, and says where its values are. What
 * clients send as a payload is kept as bytes, and these bytes are put into answers as they are, so
 * they must be valid.
 */

import { isUtf8 } from 'node:buffer'

/** Levels that a value may have: serializers give up on deeper ones. */
const depthMax = 500

const [tab, newline, carriageReturn, space] = [9, 10, 13, 32]
const [quote, plus, comma, minus, point, zero, nine, colon] = [34, 43, 44, 45, 46, 48, 57, 58]
const [openList, backslash, closeList, openObject, closeObject] = [91, 92, 93, 123, 125]
const [lowerE, upperE, lowerU] = [101, 69, 117]

/** 1 for a byte that ends a run of plain characters in a string. */
const special = new Uint8Array(256).map((_, code) =>
  Number(code === quote || code === backslash || code < space)
)
const escapes = new Set([...'"\\/bfnrt'].map((letter) => letter.charCodeAt(0)))
const words = ['true', 'false', 'null'].map((word) => Buffer.from(word))

/** Thrown for bytes that are no JSON. It says nothing of what they are. */
export class NotJson extends Error {}

/** A member of an object: its name, and where its value is. */
export interface MemberPlace {
  readonly name: string
  readonly from: number
  readonly to: number
}

/** The bytes of the one JSON value in UTF-8 that there is. Throws `NotJson`. */
export function jsonIn(bytes: Buffer): Buffer {
  if (!isUtf8(bytes)) throw new NotJson()
  const from = skipSpace(bytes, 0)
  const to = endOfValue(bytes, from)
  if (skipSpace(bytes, to) !== bytes.length) throw new NotJson()
  return bytes.subarray(from, to)
}

/** Calls `visit` for the members of the one JSON object that there is. Throws `NotJson`. */
export function visitMembers(bytes: Buffer, visit: (member: MemberPlace) => void): void {
  if (!isUtf8(bytes)) throw new NotJson()
  const end = forMembers(bytes, 0, (member) => {
    visit(member)
    return true
  })
  if (skipSpace(bytes, end) !== bytes.length) throw new NotJson()
}

function isObjectAt(bytes: Uint8Array, from: number): boolean {
  return bytes[skipSpace(bytes, from)] === openObject
}

/** The first members of the object that begins at `from`, at most `max`; those with these names. */
export function membersAt(bytes: Buffer, from: number, max: number,
  isWanted: (name: string) => boolean = () => true): MemberPlace[] {
  const members: MemberPlace[] = []
  forMembers(bytes, from, (member) => !isWanted(member.name) || members.push(member) < max)
  return members
}

/** The value of a member of the object that begins at `from`; of two, the last. */
export function memberAt(bytes: Buffer, from: number, name: string): MemberPlace | undefined {
  let found: MemberPlace | undefined
  if (!isObjectAt(bytes, from)) return undefined
  forMembers(bytes, from, (member) => {
    if (member.name === name) found = member
    return true
  })
  return found
}

/** Visits members until one returns false. Returns where the object ends, or the visit ended. */
function forMembers(bytes: Buffer, from: number, visit: (member: MemberPlace) => boolean): number {
  let at = skipSpace(bytes, from)
  if (bytes[at] !== openObject) throw new NotJson()
  at = skipSpace(bytes, at + 1)
  if (bytes[at] === closeObject) return at + 1
  for (;;) {
    const end = endOfString(bytes, at)
    const name = stringAt(bytes, at, end)
    at = skipSpace(bytes, end)
    if (bytes[at] !== colon) throw new NotJson()
    const value = skipSpace(bytes, at + 1)
    const to = endOfValue(bytes, value)
    if (!visit({ name, from: value, to })) return to
    at = skipSpace(bytes, to)
    if (bytes[at] === closeObject) return at + 1
    if (bytes[at] !== comma) throw new NotJson()
    at = skipSpace(bytes, at + 1)
  }
}

/** Places of the items of the list at `from`; none if it is no list. Lazy: none is checked. */
export function* itemsAt(bytes: Uint8Array, from: number): Generator<MemberPlace, void, void> {
  let at = skipSpace(bytes, from)
  if (bytes[at] !== openList) return
  at = skipSpace(bytes, at + 1)
  if (bytes[at] === closeList) return
  for (;;) {
    const to = endOfValue(bytes, at)
    yield { name: '', from: at, to }
    at = skipSpace(bytes, to)
    if (bytes[at] !== comma) return
    at = skipSpace(bytes, at + 1)
  }
}

/** The text of the string between two places. */
export function stringAt(bytes: Buffer, from: number, to: number): string {
  const text = bytes.toString('utf8', from, to)
  return text.includes('\\') ? JSON.parse(text) as string : text.slice(1, -1)
}

/** End of the value that begins at `at`. */
function endOfValue(bytes: Uint8Array, from: number): number {
  // Which of the open values are objects, the innermost last.
  const open: boolean[] = []
  let at = from
  for (;;) {
    const code = bytes[at]
    if (code === openObject || code === openList) {
      if (open.length === depthMax) throw new NotJson()
      const inner = skipSpace(bytes, at + 1)
      if (bytes[inner] === code + 2) {
        at = inner + 1
      } else {
        open.push(code === openObject)
        at = code === openObject ? endOfKey(bytes, inner) : inner
        continue
      }
    } else {
      at = endOfScalar(bytes, at, code)
    }
    // What follows a value: the end of those around it, then the next one.
    for (;;) {
      const isObject = open.at(-1)
      if (isObject === undefined) return at
      at = skipSpace(bytes, at)
      const next = bytes[at]
      if (next === comma) {
        at = skipSpace(bytes, at + 1)
        if (isObject) at = endOfKey(bytes, at)
        break
      }
      if (next !== (isObject ? closeObject : closeList)) throw new NotJson()
      open.pop()
      at++
    }
  }
}

/** Start of the value of the key at `at`. */
function endOfKey(bytes: Uint8Array, at: number): number {
  const end = skipSpace(bytes, endOfString(bytes, at))
  if (bytes[end] !== colon) throw new NotJson()
  return skipSpace(bytes, end + 1)
}

function skipSpace(bytes: Uint8Array, from: number): number {
  let at = from
  for (;;) {
    const code = bytes[at]
    if (code !== space && code !== newline && code !== carriageReturn && code !== tab) return at
    at++
  }
}

function endOfScalar(bytes: Uint8Array, at: number, code: number | undefined): number {
  if (code === quote) return endOfString(bytes, at)
  if (code === minus || isDigit(code)) return endOfNumber(bytes, at)
  const word = words.find((each) => each[0] === code)
  if (word === undefined || !word.every((letter, index) => bytes[at + index] === letter)) {
    throw new NotJson()
  }
  return at + word.length
}

/** End of the string that begins at `from`. */
function endOfString(bytes: Uint8Array, from: number): number {
  if (bytes[from] !== quote) throw new NotJson()
  const { length } = bytes
  let at = from + 1
  while (at < length) {
    const code = bytes[at]!
    if (special[code] === 0) {
      at++
    } else if (code === quote) {
      return at + 1
    } else if (code === backslash) {
      at = endOfEscape(bytes, at + 1)
    } else {
      break
    }
  }
  throw new NotJson()
}

function endOfEscape(bytes: Uint8Array, at: number): number {
  const code = bytes[at]
  if (code !== lowerU) {
    if (code === undefined || !escapes.has(code)) throw new NotJson()
    return at + 1
  }
  for (let digit = at + 1; digit <= at + 4; digit++) {
    if (!isHexDigit(bytes[digit])) throw new NotJson()
  }
  return at + 5
}

function endOfNumber(bytes: Uint8Array, from: number): number {
  let at = bytes[from] === minus ? from + 1 : from
  at = bytes[at] === zero ? at + 1 : endOfDigits(bytes, at)
  if (bytes[at] === point) at = endOfDigits(bytes, at + 1)
  if (bytes[at] === lowerE || bytes[at] === upperE) {
    const sign = bytes[at + 1]
    at = endOfDigits(bytes, sign === plus || sign === minus ? at + 2 : at + 1)
  }
  return at
}

function endOfDigits(bytes: Uint8Array, from: number): number {
  let at = from
  while (isDigit(bytes[at])) at++
  if (at === from) throw new NotJson()
  return at
}

function isDigit(code: number | undefined): boolean {
  return code !== undefined && code >= zero && code <= nine
}

function isHexDigit(code: number | undefined): boolean {
  if (code === undefined) return false
  const lower = code | 32
  return isDigit(code) || (lower >= 97 && lower <= 102)
}
