/** The threads of the warp in one row of the time line, and the knot of its step. */

import type { Lane } from './lanes.ts'
import type { Step } from './steps.ts'
import css from './warp.module.css'

const lanesDrawn = 8
const x = (lane: number) => 14 + Math.min(lane, lanesDrawn - 1) * 14

/** Width of the lanes up to the outermost one. */
export const widthOf = (outermost: number): number => x(outermost) + 12

/** Branches that share the last lane since there is no room for theirs. */
export const unseenOf = (outermost: number): number => Math.max(0, outermost - lanesDrawn + 1)

/** Drawing of a row of the time line: its knot, and the lines of the lanes. */
export function Warp({ step, lane, width, height, isChosen }: {
  readonly step: Step
  readonly lane: Lane
  readonly width: number
  readonly height: number
  readonly isChosen: boolean
}) {
  const at = x(lane.lane)
  const middle = height / 2
  const main = lane.lane === 0 ? css['main'] : undefined
  return (
    <svg className={css['warp']} width={width} height={height} aria-hidden="true">
      {lane.through.map((each) => (
        <path key={each} d={`M${x(each)} 0V${height}`}
          className={each === 0 ? css['main'] : undefined} />
      ))}
      {!lane.isTip && <path d={`M${at} 0V${middle}`} className={main} />}
      {lane.hasParent && <path d={`M${at} ${middle}V${height}`} className={main} />}
      {lane.joins.map((each) => (
        <path key={`join ${each}`}
          d={`M${x(each)} 0C${x(each)} ${middle} ${at} ${middle * 0.4} ${at} ${middle}`} />
      ))}
      <g className={knotClass(step, lane, isChosen)}>{knot(step, at, middle)}</g>
    </svg>
  )
}

function knotClass({ status, kind }: Step, { lane }: Lane, isChosen: boolean): string {
  const tone = status ?? (kind === 'update' ? 'edit' : lane === 0 ? 'now' : 'aside')
  return [css['knot'], css[tone], isChosen && css['chosen']].filter(Boolean).join(' ')
}

function knot({ kind }: Step, at: number, middle: number) {
  if (kind === 'input') return <rect x={at - 4} y={middle - 4} width="8" height="8" rx="2" />
  if (kind === 'update') return <path d={`M${at} ${middle - 5}l5 5-5 5-5-5z`} />
  return <circle cx={at} cy={middle} r="4" />
}
