/** Bars of a drawing, side by side, each kind with a pattern of its own. */

import type { ChartLines } from './chart-lines.ts'
import { lineLook } from './chart-scale.ts'
import css from './plot.module.css'

/** The bars of all lines. */
export function Bars({ lines: { lines }, xs, stepPx, y, pattern }: {
  readonly lines: ChartLines
  /** Pixel at which each step begins. */
  readonly xs: readonly number[]
  readonly stepPx: number
  readonly y: (value: number) => number
  /** Prefix of the ids of the patterns. */
  readonly pattern: string
}) {
  const room = Math.min(stepPx * .76, 48 * lines.length)
  const each = room / Math.max(1, lines.length)
  const before = (stepPx - room) / 2
  return lines.map(({ key, values }, line) => (
    <g key={key} fill={`url(#${pattern}${line})`}>
      {values.map((value, at) => {
        if (value === null || value === 0) return null
        const top = y(value)
        return (
          <rect key={xs[at]} x={xs[at]! + before + each * line} y={top}
            width={Math.max(1, each - (lines.length > 1 ? 1 : 0))}
            height={Math.max(1, y(0) - top)} />
        )
      })}
    </g>
  ))
}

/** Angles in degrees of the stripes in the bars of a kind. The first kind has no stripes. */
const turns = [undefined, 45, -45, 90, 0] as const

/** Pattern that fills the bars of a line, and its sample in the legend. */
export function BarPattern({ id, line }: { readonly id: string; readonly line: number }) {
  const turn = turns[line % turns.length]
  return (
    <pattern id={id} width={6} height={6} patternUnits="userSpaceOnUse"
      patternTransform={turn === undefined ? undefined : `rotate(${turn})`}
    >
      <rect width={6} height={6} style={{ fill: lineLook(line).colour }} />
      {turn !== undefined && <path d="M0 3h6" className={css['stripe']} />}
    </pattern>
  )
}
