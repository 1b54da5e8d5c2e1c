/** Marks of formulas in a text: dollar signs, or the brackets of TeX. */

import type { TokenizerExtension, Tokens } from 'marked'

/** A formula of a text. */
export interface FormulaToken extends Tokens.Generic {
  readonly type: 'formula'
  /** The formula in TeX, without its marks. */
  readonly text: string
  /** True for one on a line of its own. */
  readonly isDisplay: boolean
}

const tokenOf = (match: RegExpExecArray | null | undefined, isDisplay: boolean):
  | FormulaToken
  | undefined =>
  match == null
    ? undefined
    : { type: 'formula', raw: match[0], isDisplay,
      text: match.slice(1).find((each) => each !== undefined)!.trim() }

const block = /^(?:\$\$([^$]{1,2000}?)\$\$|\\\[([^]{1,2000}?)\\\])[ \t]*(?:\n+|$)/
/** Prices are no formulas: a closing sign has no space before it, and no digit behind it. */
const inlines = [/^\$\$([^$\n]{1,500}?)\$\$/, /^\\\(([^\n]{1,500}?)\\\)/,
  /^\$(?![\s$])((?:\\.|[^$\\\n]){1,500}?)(?<![\s\\])\$(?!\d)/]

/** Extensions of the lexer. */
export const formulas: readonly TokenizerExtension[] = [
  { name: 'formula', level: 'block', start: (text) => /\$\$|\\\[/.exec(text)?.index,
    tokenizer: (text) => tokenOf(block.exec(text), true) },
  { name: 'formula', level: 'inline', start: (text) => /\$|\\\(/.exec(text)?.index,
    tokenizer: (text) =>
      tokenOf(inlines.map((each) => each.exec(text)).find((match) => match !== null), false) },
]
