/** Formulas and code of messages: where they stand, and what is made of them. */

import { Marked } from 'marked'
import type { Token } from 'marked'
import type { ReactElement, ReactNode } from 'react'
import { describe, expect, it } from 'vitest'

import { codeWords } from '../../../src/studio/parts/text/code-words.ts'
import { formulas } from '../../../src/studio/parts/text/formula-marks.ts'
import { mathOf } from '../../../src/studio/parts/text/tex.ts'

const marked = new Marked({ gfm: true, extensions: [...formulas] })

/** Formulas of a text, wherever they stand. */
function found(text: string): readonly string[] {
  const formulasIn = (tokens: readonly Token[]): string[] =>
    tokens.flatMap((token) =>
      token.type === 'formula'
        ? [(token as unknown as { text: string }).text]
        : 'tokens' in token
        ? formulasIn(token.tokens ?? [])
        : []
    )
  return formulasIn(marked.lexer(text))
}

/** Elements as a short text: `mfrac(mn 1,mi x)`. */
function shown(node: ReactNode): string {
  if (typeof node === 'string') return node
  if (node === null || typeof node !== 'object') return ''
  const { type, props } = node as ReactElement<{ children?: ReactNode }>
  const children = [props.children].flat(2) as ReactNode[]
  return children.length === 1 && typeof children[0] === 'string'
    ? `${String(type)} ${children[0]}`
    : `${String(type)}(${children.filter((child) => child !== false).map(shown).join(',')})`
}

const set = (tex: string, isDisplay = false) => shown(mathOf(tex, isDisplay))

describe('a formula', () => {
  it('stands between dollar signs or brackets, and prices are none', () => {
    expect(found('a $x^2$ b')).toEqual(['x^2'])
    expect(found('$$\n\\int x\n$$\n\nafter')).toEqual(['\\int x'])
    expect(found('\\(a_1\\) and \\[b\\]')).toContain('a_1')
    expect(found('**bold $y$**')).toEqual(['y'])
    for (const text of ['costs $5 and $10', '$5-$10', 'a $ b $ c', '`$x$`', '$', '$$', '$$$$',
      'US$ 3', '\\$x\\$', '```\n$x$\n```']) {
      expect(found(text), text).toEqual([])
    }
  })

  it('becomes elements of MathML', () => {
    expect(set('\\frac{1}{x}')).toBe('math(mfrac(mn 1,mi x))')
    expect(set('x_i^2')).toBe('math(msubsup(mi x,mi i,mn 2))')
    expect(set('\\sqrt[3]{2}')).toBe('math(mroot(mn 2,mn 3))')
    expect(set('\\sum_{i=1}^n', true)).toBe('math(munderover(mo ∑,mrow(mi i,mo =,mn 1),mi n))')
    expect(set('\\left( \\alpha \\right)')).toBe('math(mrow(mo (,mi α,mo )))')
    expect(set('\\begin{pmatrix} 1 & 2 \\\\ 3 & 4 \\end{pmatrix}')).toBe(
      'math(mrow(mo (,mtable(mtr(mtd(mn 1),mtd(mn 2)),mtr(mtd(mn 3),mtd(mn 4))),mo )))',
    )
    expect(set("f'(3.14)")).toBe('math(msup(mi f,mo ′),mo (,mn 3.14,mo ))')
    expect(set('\\mathbb{R} \\text{if } \\sin x')).toBe('math(mi ℝ,mtext if ,mi sin,mi x)')
  })

  it('that is broken, strange or too large is left as it was written', () => {
    for (const tex of ['\\unknown', '{', '}', 'x^', '\\frac{1}', '\\left( x', '\\begin{x}\\end{x}',
      '\\constructor', '\\toString', 'x'.repeat(2_001), '{'.repeat(500) + '}'.repeat(500),
      '\\href{javascript:alert(1)}{x}', '\\sqrt['.repeat(200), '^^', '_', '&']) {
      expect(mathOf(tex, false), tex.slice(0, 40)).toBe(undefined)
    }
  })

  it('never makes an element beyond those of MathML', () => {
    expect(set('<script>')).toMatch(/^math\(mo <,(mi [a-z],){6}mo >\)$/)
    expect(set('\\text{<b onclick=x>}')).toBe('math(mtext <b onclick=x>)')
  })
})

describe('code', () => {
  const kinds = (code: string, language: string) =>
    codeWords(code, language)?.filter(({ kind }) => kind !== 'plain')
      .map(({ kind, text }) => `${kind} ${text}`)

  it('has words of a few kinds', () => {
    expect(kinds('const a = `x${1}` // one', 'ts'))
      .toEqual(['keyword const', 'text `x${1}`', 'comment // one'])
    expect(kinds('def f(x):\n  """a\n"""\n  return 0x1f # no', 'Python'))
      .toEqual(['keyword def', 'text """a\n"""', 'keyword return', 'number 0x1f', 'comment # no'])
    expect(kinds('SELECT a FROM b -- c', 'sql'))
      .toEqual(['keyword SELECT', 'keyword FROM', 'comment -- c'])
    expect(kinds('{"a": [1, true]}', 'json')).toEqual(['text "a"', 'number 1', 'keyword true'])
    expect(kinds('<script src="x">', 'html')).toEqual(['tag <script', 'text "x"', 'tag >'])
  })

  it('loses and adds nothing, whatever is broken in it', () => {
    for (const code of ['/* never closed', '"""', "'a\nb'", '`${', '\\', '"\\', '', '<!-- x',
      'ünïcödé "ß" 🙂 // ü']) {
      for (const language of ['ts', 'py', 'sql', 'json', 'html']) {
        expect(codeWords(code, language)!.map(({ text }) => text).join('')).toBe(code)
      }
    }
  })

  it('of an unknown language, or too much of it, has no colours', () => {
    for (const language of ['', 'klingon', '__proto__', 'constructor']) {
      expect(codeWords('x', language)).toBe(undefined)
    }
    expect(codeWords('x'.repeat(30_001), 'ts')).toBe(undefined)
  })

  it('that is hostile takes no long time', () => {
    for (const part of ['/*', '"\\', '`', '<!--', '"""', "'", '0.', '#', '\n"']) {
      for (const language of ['ts', 'py', 'html']) {
        codeWords(part.repeat(8_000 / part.length), language)
      }
    }
  })
})
