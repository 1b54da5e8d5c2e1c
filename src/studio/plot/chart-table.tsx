/** The numbers of a chart, the newest first. */

import type { ChartLines } from './chart-lines.ts'
import css from './plot.module.css'
import { momentWords } from '../parts/times/moment.ts'

/** A table with a column for each line. Steps without anything are left out. */
export function ChartTable({ title, lines: { times, lines }, words }: {
  readonly title: string
  readonly lines: ChartLines
  /** Writes a value of a series. */
  readonly words: (value: number | null, series: string) => string
}) {
  const shown = times.map((time, at) => ({ time, at })).toReversed().filter(({ at }) =>
    lines.some(({ values }) => values[at])
  )
  return (
    <div className={css['table']} tabIndex={0} role="region" aria-label={`Numbers of ${title}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">From</th>
            {lines.map(({ key, label }) => <th key={key} scope="col" dir="auto">{label}</th>)}
          </tr>
        </thead>
        <tbody>
          {shown.map(({ time, at }) => (
            <tr key={time}>
              <th scope="row">{momentWords(time)}</th>
              {lines.map(({ key, series, values }) => (
                <td key={key}>{words(values[at] ?? null, series)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
