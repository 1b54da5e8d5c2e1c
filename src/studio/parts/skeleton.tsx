/** A grey bar for what is not there yet. */

import css from './skeleton.module.css'

/** A bar of a width and height in pixels, or of any CSS width. */
export function Skeleton({ width, height = 12 }: {
  readonly width: number | string
  readonly height?: number
}) {
  return <span className={css['bar']} style={{ width, height }} aria-hidden="true" />
}
