/** A value of JSON as a tree. Only the rows that are seen are in the page. */

import { useMemo, useState } from 'react'

import { JsonRowList } from './json-row-list.tsx'
import { rowsOf } from './json-rows.ts'
import type { IsOpen, JsonRow } from './json-rows.ts'
import { branchesAbove } from './json-search.ts'

/** A tree of any value; `name` is what its root is called. */
export interface JsonTreeProps {
  readonly value: unknown
  readonly name?: string
  /** Levels that are open at first; 1 by default. */
  readonly open?: number
  /** Rows that are seen without scrolling; 40 at most by default. */
  readonly height?: number
  /** Takes the whole height of a flex column instead. */
  readonly fill?: boolean
  /** Words that are marked where they are seen. */
  readonly mark?: string | undefined
  /** The id of a row that is opened up to, chosen and brought into view. */
  readonly shown?: string | undefined
}

/** Tree of a value of JSON, with branches that fold. */
export function JsonTree(
  { value, name, open = 1, height, fill = false, mark, shown }: JsonTreeProps,
) {
  const { isOpen, toggle } = useBranches((row) => row.depth < open, shown)
  const rows = useMemo(() => rowsOf(value, name === undefined ? [] : [name], isOpen), [value, name,
    isOpen])
  return (
    <JsonRowList rows={rows} label={name ?? 'Value'} rootName={name} toggle={toggle} height={height}
      fill={fill} mark={mark} shown={shown} />
  )
}

/** Open branches: those that a person opened, or else those that `first` names. */
export function useBranches(first: IsOpen, shown: string | undefined): {
  readonly isOpen: IsOpen
  readonly toggle: (row: JsonRow) => void
} {
  const [chosen, setChosen] = useState<ReadonlyMap<string, boolean>>(new Map())
  const [lastShown, setLastShown] = useState(shown)
  if (shown !== lastShown) {
    setLastShown(shown)
    if (shown !== undefined) {
      setChosen(new Map([...chosen, ...branchesAbove(shown).map((id) => [id, true] as const)]))
    }
  }
  const isOpen = useMemo<IsOpen>(() => (row) => chosen.get(row.id) ?? first(row), [chosen])
  const toggle = (row: JsonRow) => setChosen((old) => new Map(old).set(row.id, !row.isOpen))
  return { isOpen, toggle }
}
