/** A step of two traces: its bars below each other, its times, and how it differs. */

import { memo } from 'react'

import { duration } from '../../parts/amounts.ts'
import { Chip } from '../../parts/chip.tsx'
import type { ChipTone } from '../../parts/chip.tsx'
import { barOf } from '../waterfall/time-axis.ts'
import type { SpanNode } from '../waterfall/span-tree.ts'
import { changeOf } from './aligned-spans.ts'
import type { AlignedRow, Change } from './aligned-spans.ts'
import css from './comparison.module.css'

const changes: Readonly<Record<Change, readonly [string, ChipTone] | null>> = {
  added: ['only B', 'done'],
  removed: ['only A', 'failed'],
  failed: ['fails in B', 'failed'],
  mended: ['fails in A', 'done'],
  same: null,
}

/** Row of a step. */
export const AlignedCells = memo(({ row, toUs, isChosen, choose }: {
  readonly row: AlignedRow
  /** Microseconds of the longer trace: both are on this axis. */
  readonly toUs: number
  readonly isChosen: boolean
  readonly choose: (row: AlignedRow) => void
}) => {
  const { before, after, depth } = row
  const { name } = (before ?? after)!.span
  const change = changes[changeOf(row)]
  return (
    <div role="presentation" className={`${css['row']} ${isChosen ? css['chosen'] : ''}`}>
      <span role="gridcell" className={css['name']}
        style={{ paddingLeft: Math.min(depth, 12) * 12 }}
      >
        <button type="button" tabIndex={-1} dir="auto" title={name} onClick={() => choose(row)}>
          {name}
        </button>
        {change !== null && <Chip tone={change[1]}>{change[0]}</Chip>}
      </span>
      <span role="gridcell" className={css['bars']} aria-hidden="true">
        <Bar node={before} toUs={toUs} side="A" />
        <Bar node={after} toUs={toUs} side="B" />
      </span>
      <span role="gridcell" className={css['times']}>
        <span>{timeOf(before)}</span>
        <span>{timeOf(after)}</span>
      </span>
      <span role="gridcell" className={css['delta']}>{deltaOf(before, after)}</span>
    </div>
  )
})

function Bar({ node, toUs, side }: {
  readonly node: SpanNode | undefined
  readonly toUs: number
  readonly side: 'A' | 'B'
}) {
  if (node === undefined) return <i />
  const { left, width } = barOf(node, { from: 0, to: toUs })
  return (
    <i>
      <b data-side={node.span.status === 'ERROR' ? 'failed' : side}
        style={{ left: `${left * 100}%`, width: `max(2px, ${width * 100}%)` }} />
    </i>
  )
}

const timeOf = (node: SpanNode | undefined) =>
  node === undefined ? '–' : duration((node.to - node.from) / 1_000)

/** "+1.2 s", "−40 ms"; nothing where one of both is missing, or the times are alike. */
function deltaOf(before: SpanNode | undefined, after: SpanNode | undefined): string {
  if (before === undefined || after === undefined) return ''
  const ms = (after.to - after.from - (before.to - before.from)) / 1_000
  return Math.abs(ms) < 1 ? '' : `${ms > 0 ? '+' : '−'}${duration(Math.abs(ms))}`
}
