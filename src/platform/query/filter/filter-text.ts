/**
 * The text of a filter as a tree. `value := call | text | number | true | false | null | list |
 * name`, `call := name "(" value {"," value} ")"`. Every part knows its place, so that errors can
 * name it.
 */

import { HeddleError } from '../../../errors.ts'
import type { Comparison } from './filter.ts'

/** A part of a filter. `at` is its first character, from 0. */
export type FilterPart =
  | { readonly kind: 'call'; readonly name: string; readonly values: readonly FilterPart[];
    readonly at: number }
  | { readonly kind: 'list'; readonly values: readonly FilterPart[]; readonly at: number }
  | { readonly kind: 'text'; readonly value: string; readonly at: number }
  | { readonly kind: 'number'; readonly value: number; readonly at: number }
  | { readonly kind: 'constant'; readonly value: boolean | null; readonly at: number }
  | { readonly kind: 'name'; readonly value: string; readonly at: number }

/** Characters that a filter may have. */
export const filterLengthMax = 8192
/** Calls and lists that may be inside each other. */
export const filterDepthMax = 32

/** Calls that compare a field with a value. `neq` and `in` are built from `eq`. */
export const comparisons: Readonly<Record<string, Comparison>> = { eq: 'eq', gt: 'gt', gte: 'gte',
  lt: 'lt', lte: 'lte' }

/** Names of constants, also as Python writes them, since templates there often make filters. */
const constants: Readonly<Record<string, boolean | null>> = { true: true, True: true, false: false,
  False: false, null: null, None: null }

const escapes: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t',
  '"': '"', "'": "'", '\\': '\\', '/': '/' }

/** The error for a filter that cannot be read. Positions are from 1, as people count. */
export function filterError(what: string, at: number): HeddleError {
  return new HeddleError('malformed', `filter: ${what} at character ${at + 1}.`)
}

/** The values of a list. */
export function listed(part: FilterPart): readonly FilterPart[] {
  if (part.kind !== 'list') throw filterError('a list such as ["a", "b"] is expected', part.at)
  return part.values
}

/** The text of a value. Other scalars are written as JSON has them. */
export function textOf(part: FilterPart): string {
  if (part.kind === 'text') return part.value
  if (part.kind === 'number' || part.kind === 'constant') return String(part.value)
  throw filterError('a text is expected', part.at)
}

/** Reads the text of a filter. Throws `malformed` and says at which character. */
export function parseFilter(text: string): FilterPart {
  if (text.length > filterLengthMax) {
    throw filterError(`more than ${filterLengthMax} characters`, filterLengthMax)
  }
  return new Reader(text).whole()
}

class Reader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  whole(): FilterPart {
    const part = this.#part(0)
    if (this.#at < this.#text.length) throw this.#wrong('the end is expected')
    return part
  }

  /** A value, and the space around it. */
  #part(depth: number): FilterPart {
    this.#match(/\s*/y)
    const part = this.#value(depth)
    this.#match(/\s*/y)
    return part
  }

  #value(depth: number): FilterPart {
    const at = this.#at
    const first = this.#text[at]
    if (first === '"' || first === "'") return { kind: 'text', value: this.#quoted(first), at }
    if (first === '[') return { kind: 'list', values: this.#values(']', depth), at }
    const number = this.#match(/-?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])/y)
    if (number !== undefined) return { kind: 'number', value: Number(number), at }
    const name = this.#match(/[A-Za-z_]\w*/y)
    if (name === undefined) throw this.#wrong('a value is expected')
    this.#match(/\s*/y)
    if (this.#text[this.#at] === '(') {
      return { kind: 'call', name, values: this.#values(')', depth), at }
    }
    return Object.hasOwn(constants, name)
      ? { kind: 'constant', value: constants[name]!, at }
      : { kind: 'name', value: name, at }
  }

  /** Values between brackets, of which the opening one is next. */
  #values(end: ')' | ']', depth: number): readonly FilterPart[] {
    if (depth === filterDepthMax) throw this.#wrong(`more than ${filterDepthMax} levels`)
    this.#at++
    if (this.#match(end === ')' ? /\s*\)/y : /\s*\]/y) !== undefined) return []
    const values: FilterPart[] = []
    for (;;) {
      values.push(this.#part(depth + 1))
      const next = this.#text[this.#at]
      if (next !== ',' && next !== end) throw this.#wrong(`"," or "${end}" is expected`)
      this.#at++
      if (next === end) return values
    }
  }

  /** A text in quotes, with the escapes of JSON and `\'`. */
  #quoted(quote: string): string {
    const from = this.#at++
    const plain = quote === '"' ? /[^"\\]*/y : /[^'\\]*/y
    let value = ''
    for (;;) {
      value += this.#match(plain)
      const next = this.#text[this.#at++]
      if (next === quote) return value
      if (next === undefined) {
        this.#at = from
        throw this.#wrong('a text without its end')
      }
      value += this.#escaped()
    }
  }

  /** Character of an escape whose backslash has been read. */
  #escaped(): string {
    const code = this.#match(/u[\da-fA-F]{4}/y)
    if (code !== undefined) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
    const letter = this.#text[this.#at]
    const meant = letter === undefined || !Object.hasOwn(escapes, letter)
      ? undefined
      : escapes[letter]
    if (meant === undefined) throw this.#wrong('an unknown escape')
    this.#at++
    return meant
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at
    const found = pattern.exec(this.#text)?.[0]
    this.#at += found?.length ?? 0
    return found
  }

  #wrong(what: string): HeddleError {
    return filterError(what, this.#at)
  }
}
