/**
 * Rows of a long list that are on the screen. Browsers end near 17 million pixels: above that the
 * scroll bar stands for more rows than it has pixels.
 */

/** The height that a list has at most. */
export const heightMax = 15_600_000

/** A list and the box that shows a part of it, in pixels. */
export interface RowSpace {
  readonly total: number
  readonly rowHeight: number
  readonly viewHeight: number
}

/** The height of all rows, if nothing bounded it. */
const fullHeight = ({ total, rowHeight }: RowSpace): number => total * rowHeight

/** The height that is scrolled. */
export const scrolledHeight = (space: RowSpace): number => Math.min(fullHeight(space), heightMax)

/** Pixels of rows that one pixel of scrolling stands for. */
export function scaleOf(space: RowSpace): number {
  const moved = scrolledHeight(space) - space.viewHeight
  return moved <= 0 ? 1 : (fullHeight(space) - space.viewHeight) / moved
}

/** The pixel of the rows at the top of the box, within the list. */
export function clampTop(space: RowSpace, top: number): number {
  return Math.max(0, Math.min(top, fullHeight(space) - space.viewHeight))
}

/** The rows that are drawn, some before and after those seen; `last` is below `first` for none. */
export function rowsAt(space: RowSpace, top: number, around: number) {
  const first = Math.floor(top / space.rowHeight) - around
  const last = Math.ceil((top + space.viewHeight) / space.rowHeight) - 1 + around
  return { first: Math.max(0, first), last: Math.min(space.total - 1, last) }
}

/** Top at which a row is seen, in pixels; unchanged if it is seen already. */
export function topToSee(space: RowSpace, top: number, row: number): number {
  const above = row * space.rowHeight
  const below = above + space.rowHeight - space.viewHeight
  return clampTop(space, Math.min(above, Math.max(below, top)))
}
