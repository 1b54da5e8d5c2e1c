/** Markdown as elements: what a model wrote is text, never markup of this page. */

import { Marked } from 'marked'
import type { Token, Tokens } from 'marked'
import { memo, useMemo } from 'react'
import type { ReactNode } from 'react'

import { CopyButton } from './copy-button.tsx'
import css from './markdown.module.css'
import { Code } from './text/code.tsx'
import { Formula } from './text/formula.tsx'
import { formulas } from './text/formula-marks.ts'
import type { FormulaToken } from './text/formula-marks.ts'

/** Its own: packages may share the usual one. */
const marked = new Marked({ gfm: true, extensions: [...formulas] })

/** Deeper nesting, and longer texts, are shown as they were written. */
const depthMax = 12
const lengthMax = 200_000

/** A text with Markdown. Blocks that have not changed are not rendered again. */
export function Markdown({ text }: { readonly text: string }) {
  const blocks = useMemo(() => blocksOf(text), [text])
  return (
    <div className={css['markdown']} dir="auto">
      {blocks.map((token, place) => <Block key={place} token={token} depth={0} />)}
    </div>
  )
}

/** A line with Markdown, for headings and rows; what is more than a line is shown as it came. */
export function Phrase({ text }: { readonly text: string }) {
  const [block, ...more] = useMemo(() => blocksOf(text), [text])
  return more.length === 0 && block?.type === 'paragraph'
    ? <span className={css['phrase']}>{inline((block as Tokens.Paragraph).tokens, 0)}</span>
    : text
}

/** The lexer recurses with the depth of quotes and lists: too deep ones never reach it. */
function blocksOf(text: string): readonly Token[] {
  const isDeep = /^(?:[ \t]*(?:>|(?:[*+-]|\d+[.)])[ \t])){30}/m.test(text) || /^ {200}/m.test(text)
  if (isDeep || text.length > lengthMax) return [{ type: 'html', raw: text, text } as Token]
  return marked.lexer(text)
}

const Block = memo(function Block({ token, depth }: {
  readonly token: Token
  readonly depth: number
}) {
  if (depth > depthMax) return <p>{token.raw}</p>
  return block(token, depth)
}, (old, now) => old.token.raw === now.token.raw && old.token.type === now.token.type)

function block(token: Token, depth: number): ReactNode {
  switch (token.type) {
    case 'space':
    case 'def':
      return null
    case 'heading':
      return heading(token as Tokens.Heading)
    case 'paragraph':
      return <p>{inline(token.tokens, 0)}</p>
    case 'text':
      return 'tokens' in token ? inline(token.tokens, 0) : token.text
    case 'code':
      return (
        <Code text={(token as Tokens.Code).text}
          language={/^\S*/.exec((token as Tokens.Code).lang ?? '')![0]}
        >
          <CopyButton text={(token as Tokens.Code).text} label="Copy the code" />
        </Code>
      )
    case 'blockquote':
      return <blockquote>{inner(token.tokens, depth)}</blockquote>
    case 'formula':
      return (
        <p className={css['display']} tabIndex={0} role="group" aria-label="Formula">
          <Formula token={token as FormulaToken} />
        </p>
      )
    case 'hr':
      return <hr />
    case 'list':
      return list(token as Tokens.List, depth)
    case 'table':
      return table(token as Tokens.Table)
    default:
      return <p>{token.raw}</p>
  }
}

const inner = (tokens: readonly Token[] = [], depth: number) =>
  tokens.map((token, place) => <Block key={place} token={token} depth={depth + 1} />)

/** Below the headings of the page. */
function heading({ depth, tokens }: Tokens.Heading): ReactNode {
  const Level = `h${Math.min(6, depth + 2)}` as 'h3'
  return <Level>{inline(tokens, 0)}</Level>
}

function list({ ordered, start, items }: Tokens.List, depth: number): ReactNode {
  const rows = items.map((item, place) => (
    <li key={place}>
      {item.task && (
        <input type="checkbox" checked={item.checked ?? false} readOnly disabled
          aria-label={item.checked ? 'Done' : 'Not done'} />
      )}
      {inner(item.tokens.filter(({ type }) => type !== 'checkbox'), depth)}
    </li>
  ))
  return ordered ? <ol start={Number(start) || 1}>{rows}</ol> : <ul>{rows}</ul>
}

function table({ header, rows, align }: Tokens.Table): ReactNode {
  const side = (place: number) => ({ textAlign: align[place] ?? 'left' } as const)
  return (
    <div className={css['table']} tabIndex={0} role="group" aria-label="Table">
      <table>
        <thead>
          <tr>
            {header.map((cell, place) => (
              <th key={place} style={side(place)}>{inline(cell.tokens, 0)}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, at) => (
            <tr key={at}>
              {row.map((cell, place) => (
                <td key={place} style={side(place)}>{inline(cell.tokens, 0)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function inline(tokens: readonly Token[] = [], depth: number): ReactNode {
  if (depth > depthMax) return tokens.map(({ raw }) => raw).join('')
  return tokens.map((token, place) => <Inline key={place} token={token} depth={depth} />)
}

function Inline({ token, depth }: { readonly token: Token; readonly depth: number }): ReactNode {
  const within = () => inline((token as Tokens.Strong).tokens, depth + 1)
  switch (token.type) {
    case 'strong':
      return <strong>{within()}</strong>
    case 'em':
      return <em>{within()}</em>
    case 'del':
      return <del>{within()}</del>
    case 'codespan':
      return <code>{token.text}</code>
    case 'formula':
      return <Formula token={token as FormulaToken} />
    case 'br':
      return <br />
    case 'link':
      return <OutsideLink href={(token as Tokens.Link).href}>{within()}</OutsideLink>
    case 'image':
      return <Image token={token as Tokens.Image} />
    case 'escape':
      return token.text
    case 'text':
      return 'tokens' in token ? within() : token.text
    default:
      return token.raw
  }
}

/** A link that says where it leads; other kinds of addresses are text. */
function OutsideLink({ href, children }: {
  readonly href: string
  readonly children: ReactNode
}) {
  const url = URL.parse(href)
  if (url === null || !['http:', 'https:', 'mailto:'].includes(url.protocol)) return children
  return (
    <>
      <a href={url.href} target="_blank" rel="noopener noreferrer">{children}</a>
      {url.protocol !== 'mailto:' && <small>({url.host})</small>}
    </>
  )
}

/** The address of an image of another host could carry a conversation away: it is a link. */
function Image({ token: { href, text } }: { readonly token: Tokens.Image }) {
  if (/^data:image\/(png|jpeg|gif|webp);base64,/.test(href)) return <img src={href} alt={text} />
  return <OutsideLink href={href}>image: {text === '' ? 'without words' : text}</OutsideLink>
}
