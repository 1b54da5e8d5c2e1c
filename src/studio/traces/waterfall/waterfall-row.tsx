/** A span in the waterfall: its place in the tree, and its bar. */

import { memo } from 'react'

import { count, duration } from '../../parts/amounts.ts'
import { Icon } from '../../parts/icon.tsx'
import { StatusGlyph, statusWords } from '../../parts/status.tsx'
import { share, spanStatus } from '../../parts/trace-words.ts'
import { heatOf } from './own-time.ts'
import type { SpanRow } from './span-tree.ts'
import { barOf } from './time-axis.ts'
import type { TimeRange } from './time-axis.ts'
import css from './waterfall.module.css'

/** Smaller shares of the time are not said. */
const leastShare = 0.05

/** Parts of the critical path that a bar shows: a loop has thousands. */
const pathPartsMax = 100

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
  /** Share of the whole time that the span spent itself. */
  readonly ownShare: number
  /** Times in which it was on the critical path. */
  readonly onPath: readonly TimeRange[] | undefined
  readonly isChosen: boolean
  readonly choose: (id: string) => void
  readonly open: (id: string) => void
  readonly fold: (id: string, isFolded: boolean) => void
}

/** Row of a span: its name, its state and its bar. */
export const WaterfallRow = memo((props: WaterfallRowProps) => {
  const { row, top, height, indent, isChosen, choose, open, fold } = props
  const { node: { span, children, depth, below, holdsError }, isOpen, isMatch } = row
  const status = spanStatus(span.status)
  const hasChildren = children.length > 0
  return (
    <div role="treeitem" id={`span-${span.id}`} aria-level={depth + 1} aria-posinset={row.place}
      aria-setsize={row.siblings} aria-selected={isChosen} className={css['row']}
      aria-expanded={hasChildren ? isOpen : undefined}
      style={{ height, transform: `translateY(${top}px)` }}
      onClick={() => matchMedia('(max-width: 899px)').matches ? open(span.id) : choose(span.id)}
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
        <span className="unseen">, {restOf(props)}</span>
      </span>
      <SpanBar {...props} />
    </div>
  )
})

function SpanBar({ row: { node }, seen, room, ownShare, onPath }: WaterfallRowProps) {
  const { span } = node
  const { left, width, isOutside } = barOf(node, seen)
  const words = ownShare < leastShare
    ? durationOf(node)
    : `${durationOf(node)} · ${share(ownShare)}`
  const end = left + width
  const tone = span.status === 'ERROR' ? css['failed'] : span.status === 'PENDING'
    ? css['running']
    : css['heat']
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
          <i className={`${css['span']} ${tone}`} data-heat={heatOf(ownShare)}
            style={{ left: `${left * 100}%`, width: `${width * 100}%` }} />
          {onPath?.slice(0, pathPartsMax).map((range) => {
            const part = barOf(range, seen)
            return !part.isOutside && (
              <b key={range.from} className={css['path']}
                style={{ left: `${part.left * 100}%`, width: `${part.width * 100}%` }} />
            )
          })}
          <small className={place} style={style}>{words}</small>
        </>
      )}
    </span>
  )
}

const durationOf = ({ from, to, span }: SpanRow['node']) =>
  span.status === 'PENDING' && span.end_time === null ? 'running' : duration((to - from) / 1_000)

/** Words for screen readers behind the name and the type. */
function restOf({ row: { node }, ownShare, onPath }: WaterfallRowProps): string {
  const { span, below } = node
  return [statusWords(spanStatus(span.status)), durationOf(node),
    ...ownShare < leastShare ? [] : [`${share(ownShare)} of the time`],
    ...onPath === undefined ? [] : ['on the critical path'],
    ...below > 0 ? [`${count(below)} below`] : []].join(', ')
}
