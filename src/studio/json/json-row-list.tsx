/** The rows of a tree on the screen: virtual, and moved through by keys. */

import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useId, useRef, useState } from 'react'
import type { KeyboardEvent } from 'react'

import { copyText } from '../parts/copy-button.tsx'
import { JsonRowView } from './json-row.tsx'
import type { DrawValue } from './json-row.tsx'
import type { JsonRow } from './json-rows.ts'
import css from './json-tree.module.css'
import { pathWords, textOfValue } from './json-words.ts'

/** Rows, and what may be done with them. */
export interface JsonRowListProps {
  readonly rows: readonly JsonRow[]
  readonly label: string
  /** Name that the root is shown under. */
  readonly rootName?: string | undefined
  readonly toggle: (row: JsonRow) => void
  readonly height?: number | undefined
  readonly fill?: boolean
  readonly mark?: string | undefined
  /** The id of a row that is chosen and brought into view. */
  readonly shown?: string | undefined
  /** Draws the values of some rows otherwise; undefined for the usual way. */
  readonly draw?: DrawValue | undefined
  /** Shows what was and what is beside each other. */
  readonly twoColumns?: boolean
}

/** Pixels of a row of one line. */
const rowHeight = 22

/** Rows that are shown at most where nobody says how many. */
const mostRows = 40

/** List of the rows of a tree; only those on the screen are drawn. */
export function JsonRowList(
  { rows, label, rootName, toggle, height, fill = false, mark, shown, draw, twoColumns = false }:
    JsonRowListProps,
) {
  const box = useRef<HTMLDivElement>(null)
  const prefix = useId()
  const [chosen, setChosen] = useState<string>()
  const list = useVirtualizer({ count: rows.length, getScrollElement: () => box.current,
    estimateSize: () => rowHeight, overscan: 8, scrollPaddingStart: 66,
    getItemKey: (at) => rows[at]!.id, useFlushSync: false })
  const at = rows.findIndex(({ id }) => id === chosen)
  const choose = (place: number) => {
    const row = rows[Math.min(Math.max(place, 0), rows.length - 1)]
    if (row === undefined) return
    setChosen(row.id)
    list.scrollToIndex(rows.indexOf(row))
  }
  useEffect(() => {
    const place = rows.findIndex(({ id }) => id === shown)
    if (shown === undefined || place < 0) return
    setChosen(shown)
    list.scrollToIndex(place, { align: 'start' })
  }, [shown])
  const keys = treeKeys({ rows, at, choose, toggle, page: () => pageOf(box.current) })
  const style = fill ? undefined : { maxHeight: (height ?? mostRows) * rowHeight + 8 }
  const isShown = list.getVirtualItems().some(({ index }) => index === at)
  return (
    <div ref={box} role="tree" aria-label={label} tabIndex={0} style={style} onKeyDown={keys}
      aria-activedescendant={isShown ? `${prefix}${at}` : undefined}
      className={`${css['tree']} ${fill ? css['fill'] : ''} ${twoColumns ? css['two'] : ''}`}
    >
      <div role="presentation" className={css['rows']} style={{ height: list.getTotalSize() }}>
        {list.getVirtualItems().map(({ key, index, start }) => (
          <JsonRowView key={key} id={`${prefix}${index}`} row={rows[index]!} index={index}
            start={start} measure={list.measureElement} isChosen={index === at} mark={mark}
            rootName={rootName} toggle={toggle} draw={draw} twoColumns={twoColumns}
            choose={setChosen} />
        ))}
      </div>
    </div>
  )
}

const pageOf = (box: HTMLElement | null): number =>
  Math.max(1, Math.floor((box?.clientHeight ?? 0) / rowHeight) - 1)

/** The keys of a tree, as readers expect them; with ⌘ or Ctrl, C copies the chosen value. */
function treeKeys({ rows, at, choose, toggle, page }: {
  readonly rows: readonly JsonRow[]
  readonly at: number
  readonly choose: (place: number) => void
  readonly toggle: (row: JsonRow) => void
  readonly page: () => number
}) {
  return (event: KeyboardEvent<HTMLElement>) => {
    const row = rows[at]
    if (event.key.toLowerCase() === 'c' && (event.metaKey || event.ctrlKey)) {
      if (row === undefined || getSelection()?.isCollapsed === false) return
      void copyText(event.shiftKey ? pathWords(row.path) : textOfValue(row.value))
    } else if (event.metaKey || event.ctrlKey || event.altKey) {
      return
    } else {
      const act = {
        ArrowDown: () => choose(at + 1),
        ArrowUp: () => choose(at - 1),
        PageDown: () => choose(at + page()),
        PageUp: () => choose(at - page()),
        Home: () => choose(0),
        End: () => choose(rows.length - 1),
        ArrowRight: () => row?.isOpen === false ? toggle(row) : choose(at + 1),
        ArrowLeft: () => row?.isOpen === true ? toggle(row) : choose(holderOf(rows, at)),
        Enter: () => row !== undefined && row.isOpen !== null && toggle(row),
        ' ': () => row !== undefined && row.isOpen !== null && toggle(row),
      }[event.key]
      if (act === undefined) return
      act()
    }
    event.preventDefault()
  }
}

/** The place of the branch that a row belongs to. */
function holderOf(rows: readonly JsonRow[], at: number): number {
  const depth = rows[at]?.depth ?? 0
  for (let above = at - 1; above >= 0; above--) if (rows[above]!.depth < depth) return above
  return 0
}
