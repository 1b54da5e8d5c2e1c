/** One limit: how much of it is used, when there is more, and how it went in the last minute. */

import type { LimitRow } from '../api/limits.ts'
import { count, counted } from '../parts/amounts.ts'
import { linePoints, nearnessOf, usedOf, windowText } from './limit-use.ts'
import type { UseSample } from './limit-use.ts'
import css from './limits.module.css'

const [width, height] = [96, 24]

/** A row of the list. */
export function LimitGauge({ row, samples }: {
  readonly row: LimitRow
  readonly samples: readonly UseSample[]
}) {
  const { id, words, category, pattern, limit, window_s: windowS, remaining, reset_s: resetS,
    refused } = row
  const used = usedOf(row)
  return (
    <li className={`${css['row']} ${css[nearnessOf(used, limit)]}`}>
      <div className={css['words']}>
        <b>{words}</b>
        <span className={css['meta']} title={`${id}: ${pattern}`}>
          {category} · {count(limit)} in {windowText(windowS)}
        </span>
      </div>
      <Line samples={samples} limit={limit} />
      <div className={css['use']}>
        <span>
          <b>{count(remaining)}</b> left
        </span>
        <span className={css['meta']}>
          {used === 0 ? 'nothing used' : `${count(used)} used, more in ${resetS} s`}
        </span>
      </div>
      <span className={css['bar']} role="meter" aria-label={words} aria-valuemin={0}
        aria-valuemax={limit} aria-valuenow={Math.min(used, limit)}
        aria-valuetext={`${count(used)} of ${count(limit)} used`}
      >
        <i style={{ width: `${Math.min(100, 100 * used / limit)}%` }} />
      </span>
      {refused > 0 && <span className={css['refused']}>{counted(refused, 'refusal')}</span>}
    </li>
  )
}

/** The line of the last minute. Its figures stand beside it. */
function Line({ samples, limit }: {
  readonly samples: readonly UseSample[]
  readonly limit: number
}) {
  if (samples.length < 2) return <span className={css['line']} />
  const most = Math.min(limit, Math.max(1, ...samples.map(({ used }) => used)))
  return (
    <svg className={css['line']} width={width} height={height}
      viewBox={`0 -1 ${width} ${height + 2}`} aria-hidden="true" fill="none" stroke="currentColor"
      strokeWidth="1.4" strokeLinejoin="round"
    >
      <polyline points={linePoints(samples, { width, height, most })} />
    </svg>
  )
}
