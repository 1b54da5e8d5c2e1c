/** Sets formulas: TeX becomes elements of MathML, which browsers draw themselves. */

import { createElement } from 'react'
import type { ReactNode } from 'react'

import { accents, functions, integrals, letters, operators, spaces, sums } from './tex-signs.ts'

/** Longer or deeper formulas are shown as they were written. */
const longest = 2_000
const deepest = 24

/** A command that is not known here, or brackets that do not match. */
class Unknown extends Error {}

/** A formula as elements; undefined if a part of it is not known. */
export function mathOf(tex: string, isDisplay: boolean): ReactNode | undefined {
  if (tex.length > longest) return undefined
  try {
    const reader = new Reader(tex, isDisplay)
    const set = reader.row([])
    return createElement('math', { display: isDisplay ? 'block' : 'inline' }, ...set)
  } catch (error) {
    if (error instanceof Unknown) return undefined
    throw error
  }
}

const has = (signs: Readonly<Record<string, string>>, name: string) => Object.hasOwn(signs, name)
const sign = (text: string, stretchy?: boolean): ReactNode =>
  createElement('mo', stretchy === undefined ? null : { stretchy: String(stretchy) }, text)
const grouped = (parts: readonly ReactNode[]): ReactNode =>
  parts.length === 1 ? parts[0] : createElement('mrow', null, ...parts)

/** Brackets around a table, by the name of its environment. */
const tables: Readonly<Record<string, readonly [string, string]>> = { matrix: ['', ''],
  pmatrix: ['(', ')'], bmatrix: ['[', ']'], vmatrix: ['|', '|'], Bmatrix: ['{', '}'],
  cases: ['{', ''], aligned: ['', ''], align: ['', ''], 'align*': ['', ''], array: ['', ''] }

class Reader {
  readonly #tokens: readonly string[]
  readonly #isDisplay: boolean
  #at = 0
  #depth = 0

  constructor(tex: string, isDisplay: boolean) {
    this.#tokens = tex.match(/\\(?:[A-Za-z]+|[^])|[^]/g) ?? []
    this.#isDisplay = isDisplay
  }

  /** Reads until one of the tokens, which is left; without any, to the end. */
  row(ends: readonly string[]): readonly ReactNode[] {
    if (++this.#depth > deepest) throw new Unknown()
    const parts: ReactNode[] = []
    for (;;) {
      this.#skipSpace()
      const token = this.#tokens[this.#at]
      if (token === undefined) {
        if (ends.length > 0) throw new Unknown()
        break
      }
      if (ends.includes(token)) break
      parts.push(this.#scripted())
    }
    this.#depth--
    return parts
  }

  #skipSpace(): void {
    while (/^\s$/.test(this.#tokens[this.#at] ?? '')) this.#at++
  }

  #take(wanted?: string): string {
    this.#skipSpace()
    const token = this.#tokens[this.#at++]
    if (token === undefined || (wanted !== undefined && token !== wanted)) throw new Unknown()
    return token
  }

  /** A part with what stands below and above it. */
  #scripted(): ReactNode {
    const next = this.#tokens[this.#at]!
    const isSum = this.#isDisplay && (has(sums, next.slice(1)) || next === '\\lim')
    const base = next === '_' || next === '^' ? createElement('mrow') : this.#part()
    let [below, above]: ReactNode[] = []
    for (;;) {
      this.#skipSpace()
      const mark = this.#tokens[this.#at]
      if (mark === '_' && below === undefined) {
        this.#at++
        below = this.#argument()
      } else if (mark === '^' && above === undefined) {
        this.#at++
        above = this.#argument()
      } else if (mark === "'" && above === undefined) {
        above = sign(this.#primes())
      } else break
    }
    const [both, low, high] = isSum
      ? ['munderover', 'munder', 'mover']
      : ['msubsup', 'msub', 'msup']
    if (below !== undefined && above !== undefined)
      return createElement(both!, null, base, below, above)
    if (below !== undefined) return createElement(low!, null, base, below)
    return above === undefined ? base : createElement(high!, null, base, above)
  }

  #primes(): string {
    let primes = ''
    for (; this.#tokens[this.#at] === "'"; this.#at++) primes += '′'
    return primes
  }

  #argument(): ReactNode {
    this.#skipSpace()
    if (this.#tokens[this.#at] !== '{') return this.#part()
    this.#at++
    const parts = this.row(['}'])
    this.#take('}')
    return grouped(parts)
  }

  #part(): ReactNode {
    const token = this.#take()
    if (token === '{') {
      this.#at--
      return this.#argument()
    }
    if (token === '}' || token === '&' || token === '_' || token === '^') throw new Unknown()
    if (token.startsWith('\\')) return this.#command(token.slice(1))
    if (/\d/.test(token)) return createElement('mn', null, token + this.#digits())
    if (/\p{L}/u.test(token)) return createElement('mi', null, token)
    return sign(token, false)
  }

  #digits(): string {
    let digits = ''
    for (; /^[\d.]$/.test(this.#tokens[this.#at] ?? ''); this.#at++)
      digits += this.#tokens[this.#at]
    return digits
  }

  #command(name: string): ReactNode {
    if (has(letters, name)) return createElement('mi', null, letters[name])
    if (has(operators, name)) return sign(operators[name]!)
    if (has(sums, name)) return sign(sums[name]!)
    if (has(integrals, name)) return sign(integrals[name]!)
    if (functions.has(name)) return createElement('mi', null, name)
    if (has(spaces, name)) return createElement('mspace', { width: spaces[name] })
    if (has(accents, name)) {
      return createElement('mover', { accent: 'true' }, this.#argument(), sign(accents[name]!))
    }
    if (/^[{}%$#&_|]$/.test(name)) return sign(name === '|' ? '‖' : name, false)
    switch (name) {
      case 'frac':
      case 'dfrac':
      case 'tfrac':
        return createElement('mfrac', null, this.#argument(), this.#argument())
      case 'binom':
        return createElement('mrow', null, sign('('),
          createElement('mfrac', { linethickness: '0' }, this.#argument(), this.#argument()),
          sign(')'))
      case 'sqrt':
        return this.#root()
      case 'left':
        return this.#fenced()
      case 'begin':
        return this.#table()
      case 'text':
      case 'mathrm':
      case 'operatorname':
      case 'mathit':
        return createElement('mtext', null, this.#raw())
      case 'mathbf':
      case 'boldsymbol':
        return createElement('mi', null, bold(this.#raw()))
      case 'mathbb':
        return createElement('mi', null, doubled(this.#raw()))
      case 'limits':
      case 'nolimits':
      case 'displaystyle':
        return createElement('mrow')
    }
    throw new Unknown()
  }

  #root(): ReactNode {
    this.#skipSpace()
    if (this.#tokens[this.#at] !== '[') return createElement('msqrt', null, this.#argument())
    this.#at++
    const index = grouped(this.row([']']))
    this.#take(']')
    return createElement('mroot', null, this.#argument(), index)
  }

  #fenced(): ReactNode {
    const open = this.#bracket()
    const inside = this.row(['\\right'])
    this.#take('\\right')
    return createElement('mrow', null, open, ...inside, this.#bracket())
  }

  #bracket(): ReactNode {
    const token = this.#take()
    if (token === '.') return createElement('mrow')
    const name = token.slice(1)
    return sign(token.length === 1 ? token : has(operators, name) ? operators[name]! : name, true)
  }

  /** The text in braces as it is: words, or the name of an environment. */
  #raw(): string {
    this.#take('{')
    let text = ''
    for (let token = this.#tokens[this.#at++]; token !== '}'; token = this.#tokens[this.#at++]) {
      if (token === undefined || token === '{') throw new Unknown()
      text += token.length === 2 && token.startsWith('\\') ? token.slice(1) : token
    }
    return text
  }

  #table(): ReactNode {
    const name = this.#raw()
    if (!Object.hasOwn(tables, name)) throw new Unknown()
    const [open, close] = tables[name]!
    if (name === 'array') this.#raw()
    const rows: ReactNode[] = []
    let cells: ReactNode[] = []
    for (;;) {
      cells.push(createElement('mtd', null, ...this.row(['&', '\\\\', '\\end'])))
      const mark = this.#take()
      if (mark === '&') continue
      rows.push(createElement('mtr', null, ...cells))
      cells = []
      if (mark === '\\end') break
    }
    if (this.#raw() !== name) throw new Unknown()
    return createElement('mrow', null, open !== '' && sign(open, true),
      createElement('mtable', null, ...rows), close !== '' && sign(close, true))
  }
}

const sets: Readonly<Record<string, string>> = { C: 'ℂ', H: 'ℍ', N: 'ℕ', P: 'ℙ', Q: 'ℚ', R: 'ℝ',
  Z: 'ℤ' }

/** Letters of sets of numbers. */
const doubled = (text: string): string =>
  text.replace(/[A-Z]/g, (letter) => sets[letter] ?? moved(letter, 'A', 0x1d538))

/** Letters of vectors and matrices. */
const bold = (text: string): string =>
  text.replace(/[A-Z]/g, (letter) => moved(letter, 'A', 0x1d400))
    .replace(/[a-z]/g, (letter) => moved(letter, 'a', 0x1d41a))

/** The letter of another alphabet, which begins at a code point. */
const moved = (letter: string, first: string, from: number): string =>
  String.fromCodePoint(from + letter.charCodeAt(0) - first.charCodeAt(0))
