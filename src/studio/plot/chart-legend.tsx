/** Legend of a chart: for each line its stroke with its mark, or its pattern, and its name. */

import { useId } from 'react'

import { BarPattern } from './chart-bars.tsx'
import type { ChartLines } from './chart-lines.ts'
import { lineLook, markPath } from './chart-scale.ts'
import css from './plot.module.css'

/** The legend of a chart with several lines, or with a group. */
export function ChartLegend({ lines: { lines }, isBars }: {
  readonly lines: ChartLines
  readonly isBars: boolean
}) {
  return (
    <ul className={css['legend']}>
      {lines.map(({ key, label }, line) => (
        <li key={key} title={label}>
          <ChartSample line={line} isBars={isBars} />
          <span dir="auto">{label}</span>
        </li>
      ))}
    </ul>
  )
}

/** A piece of a line, or of a bar. */
export function ChartSample({ line, isBars }: { readonly line: number; readonly isBars: boolean }) {
  const { colour, dash } = lineLook(line)
  const id = useId()
  if (isBars) {
    return (
      <svg width={12} height={12} aria-hidden="true">
        <BarPattern id={id} line={line} />
        <rect width={12} height={12} rx={2} fill={`url(#${id})`} />
      </svg>
    )
  }
  return (
    <svg width={24} height={12} aria-hidden="true">
      <path d="M0 6h24" className={css['line']} strokeDasharray={dash} style={{ stroke: colour }} />
      <path d={markPath(line, 12, 6)} style={{ fill: colour }} />
    </svg>
  )
}
