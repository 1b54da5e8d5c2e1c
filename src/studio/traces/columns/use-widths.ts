/** The widths of columns while one of them is dragged, and the tracks of the grid that follow. */

import { useState } from 'react'
import type { CSSProperties } from 'react'

import { columnTracks, leastWidth, withWidth } from './columns.ts'
import type { ColumnsInUse } from './use-columns.ts'

/** Columns as they are drawn; only the head and the grid hear of a drag, no row does. */
export function useWidths({ columns: kept, isUsual, choose }: ColumnsInUse) {
  const [dragged, setDragged] = useState<{ readonly id: string; readonly width: number }>()
  const columns = dragged === undefined ? kept : withWidth(kept, dragged.id, dragged.width)
  return {
    columns,
    /** True while the sheet of the list says how wide they are. */
    isPlain: isUsual && dragged === undefined,
    style: { '--tracks': columnTracks(columns),
      '--least': `${leastWidth(columns)}px` } as CSSProperties,
    show: (id: string, width: number | undefined) =>
      setDragged(width === undefined ? undefined : { id, width }),
    keep: (id: string, width: number | undefined) => {
      setDragged(undefined)
      choose(withWidth(kept, id, width))
    },
  }
}
