/** One row of a tree. */

import { memo, useState } from 'react'
import type { MouseEvent, ReactNode } from 'react'

import { count } from '../parts/amounts.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Icon } from '../parts/icon.tsx'
import type { JsonRow, RowSign } from './json-rows.ts'
import css from './json-tree.module.css'
import { branchWords, imageAddress, imageWords, messageWords, pathWords,
  textOfValue } from './json-words.ts'

const signs: Readonly<Record<RowSign, readonly [string, string]>> = { added: ['+', 'added'],
  removed: ['−', 'removed'], changed: ['~', 'changed'], moved: ['↕', 'moved'],
  inside: ['', 'changed inside'] }

/** Draws the value of a row, in one of two columns or in the only one; undefined: as usual. */
export type DrawValue = (row: JsonRow, side: 'before' | 'after' | undefined) => ReactNode

/** A row at its place, and the callbacks that it needs. */
interface JsonRowViewProps {
  readonly id: string
  readonly row: JsonRow
  readonly index: number
  readonly start: number
  readonly measure: (element: HTMLElement | null) => void
  readonly isChosen: boolean
  readonly mark: string | undefined
  readonly rootName: string | undefined
  readonly toggle: (row: JsonRow) => void
  readonly choose: (id: string) => void
  readonly draw: DrawValue | undefined
  readonly twoColumns: boolean
}

/** A row of a tree of JSON at its place. */
export const JsonRowView = memo(function JsonRowView(props: JsonRowViewProps) {
  const { id, row, index, start, measure, isChosen, twoColumns } = props
  const press = (event: MouseEvent) => {
    if ((event.target as Element).closest('button') !== null) return
    if (getSelection()?.isCollapsed === false) return
    props.choose(row.id)
    if (row.isOpen !== null) props.toggle(row)
  }
  return (
    <div ref={measure} id={id} role="treeitem" data-index={index} aria-level={row.depth + 1}
      aria-posinset={row.place} aria-setsize={row.siblings} aria-selected={isChosen}
      {...row.isOpen !== null && { 'aria-expanded': row.isOpen }} onClick={press}
      className={`${css['row']} ${row.sign === null ? '' : css[row.sign]}`}
      style={{ transform: `translateY(${start}px)` }}
    >
      {twoColumns
        ? (
          <>
            {row.sign === 'added' ? <span /> : <RowBody {...props} side="before" />}
            {row.sign === 'removed' ? <span /> : <RowBody {...props} side="after" />}
          </>
        )
        : <RowBody {...props} />}
    </div>
  )
})

function RowBody({ row, mark, rootName, draw, side }: JsonRowViewProps & {
  readonly side?: 'before' | 'after'
}) {
  const [sign, signWords] = row.sign === null ? ['', ''] : signs[row.sign]
  const name = (side === 'before' ? row.formerName : row.name) ?? rootName
  const isOlder = side === 'before' && (row.sign === 'changed' || row.sign === 'inside' ||
    row.sign === 'moved')
  const value = isOlder ? row.before : row.value
  const drawn = draw?.(row, side)
  return (
    <div className={css['body']} style={{ paddingInlineStart: 22 + indentOf(row.depth) }}>
      <span className={css['sign']} aria-hidden="true">{sign}</span>
      {signWords !== '' && <span className="unseen">{`${signWords}, `}</span>}
      <span className={css['twist']} data-open={row.isOpen}>
        {row.isOpen !== null && <Icon name="right" size={10} />}
      </span>
      {name !== undefined && (
        <span className={css['name']} dir="auto">
          <Marked text={String(name)} mark={mark} />
          <span className={css['colon']}>:</span>
        </span>
      )}
      {drawn ?? <ValueText value={value} row={row} mark={mark} />}
      {side !== 'before' && (
        <span className={css['acts']}>
          <CopyButton text={() => textOfValue(row.value)} label="Copy the value" />
          {row.path.length > 0 &&
            <CopyButton text={pathWords(row.path)} label="Copy the path" icon="link" />}
        </span>
      )}
    </div>
  )
}

/** Deep rows stay readable in narrow panes. */
const indentOf = (depth: number): number => Math.min(depth, 10) * 14 + Math.max(0, depth - 10) * 4

function ValueText({ value, row, mark }: {
  readonly value: unknown
  readonly row: JsonRow
  readonly mark: string | undefined
}) {
  if (typeof value === 'string') return <LongText text={value} row={row} mark={mark} />
  if (typeof value === 'object' && value !== null) {
    const isWords = messageWords(value) !== null
    return (
      <span className={`${css['branch']} ${isWords ? css['words'] : ''}`} dir="auto">
        {branchWords(value)}
      </span>
    )
  }
  return (
    <span className={css[typeof value === 'number' ? 'number' : 'constant']}>
      <Marked text={String(value)} mark={mark} />
    </span>
  )
}

/** Longer texts are folded. */
const foldedLength = 2_000
/** So much more is shown at a time: the layout of a text of megabytes takes seconds. */
const moreLength = 50_000

function LongText({ text, row, mark }: {
  readonly text: string
  readonly row: JsonRow
  readonly mark: string | undefined
}) {
  const [length, setLength] = useState(foldedLength)
  const image = imageAddress(text, row.name, row.holder)
  if (image !== null) return <Image address={image} />
  const rest = text.length - length
  return (
    <span className={css['text']} dir="auto">
      <Marked text={rest > 0 ? text.slice(0, length) : text} mark={mark} />
      {rest > 0 && (
        <button type="button" className={css['more']} tabIndex={-1} onClick={() =>
          setLength(length + moreLength)}
        >
          {rest > moreLength
            ? `Show ${count(moreLength)} more of ${count(rest)} characters`
            : `Show all ${count(text.length)} characters`}
        </button>
      )}
      {length > foldedLength && (
        <button type="button" className={css['more']} tabIndex={-1} onClick={() =>
          setLength(foldedLength)}
        >
          Show less
        </button>
      )}
    </span>
  )
}

function Image({ address }: { readonly address: string }) {
  const [shown, setShown] = useState(false)
  return (
    <span className={css['image']}>
      {imageWords(address)}
      <button type="button" className={css['more']} tabIndex={-1} onClick={() => setShown(!shown)}>
        {shown ? 'Hide the image' : 'Show the image'}
      </button>
      {shown && <img src={address} alt={imageWords(address)} />}
    </span>
  )
}

/** A text with the words that were looked for marked. */
function Marked({ text, mark }: { readonly text: string; readonly mark: string | undefined }) {
  const words = mark?.trim().toLowerCase() ?? ''
  if (words === '') return text
  const lower = text.toLowerCase()
  const parts: ReactNode[] = []
  let end = 0
  for (let at = lower.indexOf(words); at >= 0; at = lower.indexOf(words, end)) {
    parts.push(text.slice(end, at), <mark key={at}>{text.slice(at, at + words.length)}</mark>)
    end = at + words.length
  }
  return [...parts, text.slice(end)]
}
