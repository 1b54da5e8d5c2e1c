/** Box beside the pointer: a time, and the value of each line then. */

import { ChartSample } from './chart-legend.tsx'
import type { ChartLines } from './chart-lines.ts'
import css from './plot.module.css'
import { momentWords } from '../parts/times/moment.ts'

/** The values at a step. */
export function PointedValues({ lines: { times, lines }, at, words, x, width }: {
  readonly lines: ChartLines
  readonly at: number
  readonly words: (value: number | null) => string
  readonly x: number
  readonly width: number
}) {
  const isRight = x > width / 2
  return (
    <div className={css['values']} aria-hidden="true"
      style={isRight ? { right: width - x + 10 } : { left: x + 10 }}
    >
      <b>{momentWords(times[at]!)}</b>
      {lines.map(({ key, label, values }, line) => (
        <span key={key}>
          <ChartSample line={line} isBars={false} />
          <span dir="auto">{label}</span>
          <b>{words(values[at] ?? null)}</b>
        </span>
      ))}
    </div>
  )
}
