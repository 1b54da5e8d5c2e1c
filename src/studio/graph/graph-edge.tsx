/** An edge of the picture: a thread of the warp, along which a shuttle runs while it is active. */

import { memo } from 'react'

import type { FlowEdge } from './flow-parts.ts'
import css from './graph.module.css'

/** Edge of the canvas: a curve with a tip, drawn by its activity. */
export const WarpEdge = memo(function WarpEdge({ edge: { path, activity, conditional } }: {
  readonly edge: FlowEdge
}) {
  return (
    <>
      <path d={path} data-activity={activity}
        className={`${css['edge']} ${css[activity]} ${conditional ? css['conditional'] : ''}`} />
      <path d={tip} className={`${css['tip']} ${css[activity]}`} transform={tipPlace(path)} />
      {activity === 'active' && <path d={path} pathLength={100} className={css['shuttle']} />}
    </>
  )
})

const tip = 'M-6 -3.4 0 0 -6 3.4'

/** The arrow stands at the end of the path, along its last piece. */
function tipPlace(path: string): string {
  const numbers = path.match(/-?\d+(?:\.\d+)?/g)!.map(Number)
  const [fromX, fromY, x, y] = numbers.slice(-4) as [number, number, number, number]
  const angle = Math.round(Math.atan2(y - fromY, x - fromX) * 180 / Math.PI)
  return `translate(${x} ${y}) rotate(${angle})`
}
