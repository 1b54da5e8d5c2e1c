/** Comma-separated values as RFC 4180 has them, with lines that end in any way. Pure. */

import { HeddleError } from '../../../../errors.ts'

/** Fields of a line. */
const fieldsMax = 1_000

/** The records of a text; empty lines are none. Throws `invalid` and names the line. */
export function* recordsIn(text: string): Generator<readonly string[], void, void> {
  let at = text.startsWith('\ufeff') ? 1 : 0
  let line = 1
  while (at < text.length) {
    const record: string[] = []
    const first = line
    for (;;) {
      const field = text[at] === '"' ? quotedAt(text, at, first) : plainAt(text, at, line)
      line += field.lines
      at = field.end
      record.push(field.value)
      if (record.length > fieldsMax) {
        throw wrong(first, `has more than ${fieldsMax} fields`)
      }
      if (text[at] !== ',') break
      at++
    }
    at += lineEndAt(text, at, line)
    line++
    if (record.length > 1 || record[0] !== '') yield record
  }
}

/** A line of values, with its end. */
export function lineOf(values: readonly string[]): string {
  return `${values.map(fieldOf).join(',')}\r\n`
}

interface Field {
  readonly value: string
  readonly end: number
  /** Line ends in it. */
  readonly lines: number
}

function plainAt(text: string, from: number, line: number): Field {
  let end = from
  while (end < text.length && !',\r\n'.includes(text[end]!)) {
    if (text[end] === '"') throw wrong(line, 'has a quotation mark inside a field without any')
    end++
  }
  return { value: text.slice(from, end), end, lines: 0 }
}

function quotedAt(text: string, from: number, line: number): Field {
  let value = ''
  let at = from + 1
  for (;;) {
    const end = text.indexOf('"', at)
    if (end < 0) throw wrong(line, 'has a quotation mark that nothing ends')
    value += text.slice(at, end)
    at = end + 1
    if (text[at] !== '"') break
    value += '"'
    at++
  }
  return { value, end: at, lines: value.split(/\r\n|\r|\n/).length - 1 }
}

/** Characters of the end of the line that is there. */
function lineEndAt(text: string, at: number, line: number): number {
  if (at === text.length) return 0
  if (text.startsWith('\r\n', at)) return 2
  if (text[at] === '\n' || text[at] === '\r') return 1
  throw wrong(line, 'has text behind the end of a quoted field')
}

function fieldOf(given: string): string {
  const value = asText(given)
  return /[",\r\n\ufeff]|^$/.test(value) ? `"${value.replaceAll('"', '""')}"` : value
}

/** The text of a field that `lineOf` wrote. */
export function withoutMark(field: string): string {
  return marked.test(field) ? field.slice(1) : field
}

/** Beginnings that spreadsheets take for a formula, behind signs and spaces that they leave out. */
const formula = /^[\s\p{Cc}\ufeff]*[=+\-@＝＋－＠]/u
/** Texts that `asText` makes of formulas, and of texts that look as if it had made them. */
const marked = /^'+[\s\p{Cc}\ufeff]*[=+\-@＝＋－＠]/u

/** A formula with a mark by which spreadsheets take it for a text. Numbers are none. */
function asText(value: string): string {
  const isNumber = /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(value)
  return !isNumber && (formula.test(value) || marked.test(value)) ? `'${value}` : value
}

function wrong(line: number, what: string): HeddleError {
  return new HeddleError('invalid', `file: line ${line} ${what}.`)
}
