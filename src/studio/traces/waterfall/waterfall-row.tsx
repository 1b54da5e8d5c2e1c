/** A span in the waterfall: its place in the tree, and its bar. */

import { memo } from 'react'

import { count, duration } from '../../parts/amounts.ts'
import { Icon } from '../../parts/icon.tsx'
import { StatusGlyph, statusWords } from '../../parts/status.tsx'
import { spanStatus } from '../../parts/trace-words.ts'
import type { SpanRow } from './span-tree.ts'
import { barOf } from './time-axis.ts'
import type { TimeRange } from './time-axis.ts'
import css from './waterfall.module.css'

/** Span of a row, its place on the screen, and the callbacks of the row. */
interface WaterfallRowProps {
  readonly row: SpanRow
  readonly top: number
  readonly height: number
  /** Pixels a level. */
  readonly indent: number
  readonly seen: TimeRange
  /** The share of the time that words beside a bar take. */
  readonly room: number
  readonly isChosen: boolean
  readonly choose: (id: string) => void
  readonly open: (id: string) => void
  readonly fold: (id: string, isFolded: boolean) => void
}

/** Row of a span: its name, its state and its bar. */
export const WaterfallRow = memo((props: WaterfallRowProps) => {
  const { row, top, height, indent, seen, isChosen, choose, open, fold } = props
  const { node: { span, children, depth, below, holdsError }, isOpen, isMatch } = row
  const status = spanStatus(span.status)
  const hasChildren = children.length > 0
  return (
    <div role="treeitem" id={`span-${span.id}`} aria-level={depth + 1} aria-posinset={row.place}
      aria-setsize={row.siblings} aria-selected={isChosen} className={css['row']}
      aria-expanded={hasChildren ? isOpen : undefined}
      style={{ height, transform: `translateY(${top}px)` }}
      onClick={() => matchMedia('(max-width: 1099px)').matches ? open(span.id) : choose(span.id)}
    >
      <span className={css['name']}>
        <span className={css['indent']}
          style={{ width: depth * indent, backgroundSize: `${indent}px 100%` }} />
        <span className={css['fold']} aria-hidden="true" onClick={(event) => {
          if (!hasChildren) return
          event.stopPropagation()
          fold(span.id, isOpen)
        }}>
          {hasChildren && <Icon name={isOpen ? 'down' : 'right'} size={12} />}
        </span>
        <StatusGlyph status={status} size={12} />
        <span className={`${css['words']} ${isMatch ? css['match'] : ''}`} title={span.name}
          dir="auto"
        >
          {span.name}
        </span>
        <small>{span.run_type.toLowerCase()}</small>
        {!isOpen && below > 0 && (
          <small aria-hidden="true" className={holdsError ? css['failedBelow'] : css['below']}>
            +{count(below)}
          </small>
        )}
        <span className="unseen">, {restOf(row)}</span>
      </span>
      <SpanBar row={row} seen={seen} room={props.room} />
    </div>
  )
})

function SpanBar({ row: { node }, seen, room }: Pick<WaterfallRowProps, 'row' | 'seen' | 'room'>) {
  const { span } = node
  const { left, width, isOutside } = barOf(node, seen)
  const words = durationOf(node)
  const end = left + width
  const tone = span.status === 'ERROR' ? css['failed'] : span.status === 'PENDING'
    ? css['running']
    : node.children.length === 0
    ? css['leaf']
    : ''
  // The words stand where there is room: behind the bar, before it, else in it.
  const [place, style] = end < 1 - room
    ? [css['behind'], { left: `calc(${end * 100}% + 6px)` }]
    : left > room
    ? [css['before'], { right: `calc(${(1 - left) * 100}% + 6px)` }]
    : [css['within'], { left: `${(left + width / 2) * 100}%` }]
  return (
    <span className={css['time']} aria-hidden="true">
      {!isOutside && (
        <>
          <i className={`${css['span']} ${tone}`}
            style={{ left: `${left * 100}%`, width: `${width * 100}%` }} />
          <small className={place} style={style}>{words}</small>
        </>
      )}
    </span>
  )
}

const durationOf = ({ from, to, span }: SpanRow['node']) =>
  span.status === 'PENDING' && span.end_time === null ? 'running' : duration((to - from) / 1_000)

/** Words for screen readers behind the name and the type. */
function restOf({ node }: SpanRow): string {
  const { span, below } = node
  return [statusWords(spanStatus(span.status)), durationOf(node),
    ...below > 0 ? [`${count(below)} below`] : []].join(', ')
}
