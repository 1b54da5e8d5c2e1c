/** Splits a multipart body into its parts, without copying them. */

import { HeddleError } from '../../../errors.ts'

/** A part of a body. */
export interface Part {
  readonly name: string
  /** Its media type without the parameter `length`. */
  readonly type: string
  /** Null if the body ends within it. */
  readonly data: Buffer | null
}

/** Bytes that the headers of a part may have. */
const headersMax = 16 * 1024
const lineEnd = Buffer.from('\r\n')
const headersEnd = Buffer.from('\r\n\r\n')
const closing = Buffer.from('--')
const carriageReturn = 13

/** A boundary as RFC 2046 has it: 1 to 70 of these characters, the last of them no space. */
const boundaryShape = /^[\w'()+,./:=? -]{0,69}[\w'()+,./:=?-]$/

/**
 * The boundary that a content type names. Throws `malformed`. No character of it is a carriage
 * return, on which the search for it relies.
 */
export function boundaryOf(contentType: string): string {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;"]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (!/^\s*multipart\/form-data\b/i.test(contentType) || boundary === undefined) {
    throw new HeddleError('malformed', 'The body is no multipart/form-data with a boundary.')
  }
  if (!boundaryShape.test(boundary)) {
    throw new HeddleError('malformed',
      "A boundary has 1 to 70 letters, digits, spaces and '()+_,-./:=? and ends with no space.")
  }
  return boundary
}

/**
 * The parts of a body in their order. A part that says its length is not searched, unless that is
 * wrong. A body that is cut off ends with a part without data; its name is empty if it is cut off
 * too. Throws `malformed` if there is no boundary at all.
 */
export function* partsOf(body: Buffer, boundary: string): Generator<Part, void, void> {
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const opening = delimiter.subarray(lineEnd.length)
  // The first boundary has no line before it, or a preamble that nobody reads.
  let at = startsAt(body, opening, 0) ? opening.length : afterFirst(body, delimiter)
  if (at < 0) throw new HeddleError('malformed', 'The body does not begin with its boundary.')
  for (;;) {
    if (startsAt(body, closing, at)) return
    const begin = body.indexOf(lineEnd, at)
    const end = begin < 0 ? -1 : body.indexOf(headersEnd, begin)
    if (end < 0 || end - at > headersMax) {
      const { name } = readHeaders(body.toString('utf8', at, at + headersMax))
      return yield { name, type: '', data: null }
    }
    const { name, type, length } = readHeaders(body.toString('utf8', begin, end + lineEnd.length))
    const from = end + headersEnd.length
    const to = endOfPart(body, delimiter, from, length)
    if (to < 0) return yield { name, type, data: null }
    yield { name, type, data: body.subarray(from, to) }
    at = to + delimiter.length
  }
}

function afterFirst(body: Buffer, delimiter: Buffer): number {
  const at = findDelimiter(body, delimiter, 0)
  return at < 0 ? -1 : at + delimiter.length
}

/** End of the part that begins at `from`; -1 if the body ends before. */
function endOfPart(body: Buffer, delimiter: Buffer, from: number, length: number): number {
  const said = from + length
  if (length >= 0 && isDelimiterAt(body, delimiter, said)) return said
  let at = findDelimiter(body, delimiter, from)
  while (at >= 0 && !isDelimiterAt(body, delimiter, at)) {
    at = findDelimiter(body, delimiter, at + 1)
  }
  if (at >= 0) return at
  // The body is cut off behind this part.
  const left = body.length - said
  const isWhole = length >= 0 && left >= 0 && left < delimiter.length &&
    startsAt(body, delimiter.subarray(0, left), said)
  return isWhole ? said : -1
}

/** Bytes that are looked at one by one behind a carriage return, before `indexOf` goes on. */
const nearBytes = 256

/**
 * The first place of the delimiter from `from` on; -1 if there is none. No byte is compared twice,
 * whatever the body is, because the only carriage return of a delimiter is its first byte.
 */
function findDelimiter(body: Buffer, delimiter: Buffer, from: number): number {
  for (let at = body.indexOf(carriageReturn, from); at >= 0; at = nextReturn(body, at + 1)) {
    if (isAt(body, delimiter, at)) return at
  }
  return -1
}

/** Looks nearby first: a call of `indexOf` for each byte of a body would take seconds. */
function nextReturn(body: Buffer, from: number): number {
  const end = Math.min(from + nearBytes, body.length)
  for (let at = from; at < end; at++) if (body[at] === carriageReturn) return at
  return body.indexOf(carriageReturn, end)
}

function isAt(body: Buffer, delimiter: Buffer, at: number): boolean {
  for (let index = 0; index < delimiter.length; index++) {
    if (body[at + index] !== delimiter[index]) return false
  }
  return true
}

/** True if a whole delimiter is there: with the end of its line, or of the body. */
function isDelimiterAt(body: Buffer, delimiter: Buffer, at: number): boolean {
  const after = at + delimiter.length
  return startsAt(body, delimiter, at) &&
    (after + 1 >= body.length || startsAt(body, lineEnd, after) || startsAt(body, closing, after))
}

function startsAt(body: Buffer, bytes: Buffer, at: number): boolean {
  const end = at + bytes.length
  return end <= body.length && body.compare(bytes, 0, bytes.length, at, end) === 0
}

/** Headers of a part. */
interface PartHeaders {
  readonly name: string
  readonly type: string
  /** -1 if it is not said. */
  readonly length: number
}

function readHeaders(text: string): PartHeaders {
  const name = /\r\nContent-Disposition:[^\r\n]*?;\s*name="([^"\r\n]*)"/i.exec(text)?.[1] ?? ''
  const type = /\r\nContent-Type:[ \t]*([^\r\n]*)/i.exec(text)?.[1] ?? ''
  const length = /;\s*length=(\d{1,15})\b/i.exec(type)?.[1] ??
    /\r\nContent-Length:[ \t]*(\d{1,15})\b/i.exec(text)?.[1] ?? '-1'
  return { name, type: type.replace(/;\s*length=\d*/i, '').trim(), length: Number(length) }
}
