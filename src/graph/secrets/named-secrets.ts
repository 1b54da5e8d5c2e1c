/**
 * Finds values behind the names of credentials: in JSON at any depth of quotation, forms, query
 * strings, headers, XML and multipart bodies. Pure. Its time is linear in the text.
 */

import { credentialName, listElement, namedValue, pairValue } from './built-expressions.ts'
import { kindOfName } from './credential-name.ts'
import type { FindSecrets, TextSpan } from './text-span.ts'

const formField = /name="([^"\r\n]{1,64})"[^\r\n]{0,256}\r?\n(?:[^\r\n]{1,256}\r?\n){0,4}\r?\n/gi

const nameMax = 64
const wordEnd = /[\s&;,"'<>\\{}()[\]|`]|%26/g
const lineEnd = /[\r\n"'\\<]/g
/** Characters of a value. */
const valueMax = 64 * 1024

/** Returns the values of all credentials that have a name. */
export const findNamedSecrets: FindSecrets = (text) => {
  const spans: TextSpan[] = []
  const isTokenRequest = text.includes('grant_type')
  namedValue.lastIndex = 0
  for (let found = namedValue.exec(text); found !== null; found = namedValue.exec(text)) {
    const [whole, closing = '', separator = '', opening = ''] = found
    const nameEnd = found.index + whole.search(/["'%&=:>,\s\\]|$/)
    const from = nameStart(text, found.index)
    const kind = kindOfName(text.slice(from, nameEnd))
    if (kind === undefined || (kind === 'oauth' && !isTokenRequest)) continue
    const values = valuesAt(text, { from, closing, separator, opening, at: namedValue.lastIndex })
    const shown = kind === 'likely' ? values.filter((span) => isLikely(text, span)) : values
    spans.push(...shown)
    namedValue.lastIndex = Math.max(namedValue.lastIndex, values.at(-1)?.[1] ?? 0)
  }
  return text.includes('form-data') ? [...spans, ...formFields(text)] : spans
}

/** A name that was found, and what follows it. */
interface FoundName {
  /** Start of the name. */
  readonly from: number
  readonly closing: string
  readonly separator: string
  readonly opening: string
  /** Start of the value, behind its opening quote. */
  readonly at: number
}

function valuesAt(text: string,
  { from, closing, separator, opening, at }: FoundName): readonly TextSpan[] {
  if (separator === ',') return closing === '' ? [] : listed(text, opening, at)
  if (separator === '>') return isTag(text, from) && closing === '' ? bare(text, at, /[<]/g) : []
  if (opening === '[') return elements(text, at)
  if (opening !== '') return nonEmpty(at, quotedEnd(text, opening, at))
  // A member of JSON without quotes is a number, null or an object.
  if (closing !== '') return []
  const isField = separator === '=' ? isFormField(text, from) : separator === '%3D'
  const values = bare(text, at, isLine(text, from) ? lineEnd : wordEnd)
  return isField ? values : values.filter((span) => isNoWord(text, span))
}

/** True for a name of a form or a query string, whose value may be a word. */
function isFormField(text: string, nameFrom: number): boolean {
  return nameFrom === 0 || /[?&#]/.test(text[nameFrom - 1]!)
}

/** True for a header whose value is the rest of its line. */
function isLine(text: string, nameFrom: number): boolean {
  return /^(?:proxy-)?(?:authorization|(?:set-)?cookie):/i.test(text.slice(nameFrom, nameFrom + 20))
}

/** The value of a pair of name and value, or of a list of two. */
function listed(text: string, opening: string, at: number): readonly TextSpan[] {
  pairValue.lastIndex = at - opening.length
  const pair = pairValue.exec(text)
  if (pair !== null) {
    const from = pairValue.lastIndex
    return nonEmpty(from, quotedEnd(text, pair[1]!, from))
  }
  if (opening === '' || opening === '[') return []
  // Lists have names as well.
  return nonEmpty(at, quotedEnd(text, opening, at)).filter((span) => isLikely(text, span))
}

/** The texts of a list. */
function elements(text: string, at: number): readonly TextSpan[] {
  const spans: TextSpan[] = []
  for (listElement.lastIndex = at;;) {
    const found = listElement.exec(text)
    if (found === null) return spans
    const from = listElement.lastIndex
    const to = quotedEnd(text, found[1]!, from)
    spans.push([from, to])
    listElement.lastIndex = Math.min(text.length, to + found[1]!.length)
  }
}

function formFields(text: string): readonly TextSpan[] {
  formField.lastIndex = 0
  return [...text.matchAll(formField)].flatMap((found) => {
    const [whole, name = ''] = found
    if (!credentialName.test(name) || kindOfName(name) === undefined) return []
    return bare(text, found.index + whole.length, /\r?\n--/g)
  })
}

/** Characters of a name that are part of it. */
function nameStart(text: string, end: number): number {
  let at = end
  while (at > 0 && end - at < nameMax && isNameCode(text.charCodeAt(at - 1))) at--
  // An escaped character is not part of the name.
  if (text[at - 1] === '%') return Math.min(at + 2, end)
  return text[at - 1] === '\\' ? Math.min(at + 1, end) : at
}

/** True for the code of a letter, a digit, or one of `_`, `.`, `$` and `-`. */
function isNameCode(code: number): boolean {
  const small = code | 32
  return (small >= 97 && small <= 122) || (code >= 48 && code <= 57) || code === 95
    || code === 46 || code === 36 || code === 45
}

function isTag(text: string, nameFrom: number): boolean {
  return /<(?:\w{1,32}:)?$/.test(text.slice(Math.max(0, nameFrom - 34), nameFrom))
}

/** End of a value in quotes: the quote that closes the same depth of quotation. */
function quotedEnd(text: string, opening: string, from: number): number {
  const limit = Math.min(text.length, from + valueMax)
  if (!/["']$/.test(opening)) {
    const end = text.indexOf(opening, from)
    return end < 0 || end > limit ? limit : end
  }
  const mark = opening.at(-1)!
  const depth = depthOf(opening.length - 1)
  for (let at = text.indexOf(mark, from); at >= 0 && at < limit; at = text.indexOf(mark, at + 1)) {
    let slashes = 0
    while (at - slashes > from && text[at - slashes - 1] === '\\') slashes++
    if (depthOf(slashes) <= depth) return at - Math.min(slashes, opening.length - 1)
  }
  return limit
}

/** Depth of quotation of a quote behind so many backslashes. */
function depthOf(slashes: number): number {
  let [depth, left] = [0, slashes]
  for (; left % 2 === 1; left = (left - 1) / 2) depth++
  return depth
}

function bare(text: string, from: number, end: RegExp): readonly TextSpan[] {
  end.lastIndex = from
  const found = end.exec(text)
  const to = Math.min(found?.index ?? text.length, from + valueMax)
  return nonEmpty(from, to)
}

function nonEmpty(from: number, to: number): readonly TextSpan[] {
  return to > from ? [[from, to]] : []
}

/** True for a value that looks like a credential. */
function isLikely(text: string, span: TextSpan): boolean {
  const value = text.slice(...span)
  return value.length >= 12 && isNoWord(text, span) && !/\s/.test(value)
}

/** False for a word of a text or a program. Stars replace the secrets of a replay. */
function isNoWord(text: string, span: TextSpan): boolean {
  const value = text.slice(...span)
  return value.length >= 8 && /[\d*]/.test(value)
}
