/** The columns of the list of traces: of the address, else those that this browser remembers. */

import { useCallback, useMemo, useState } from 'react'

import type { ProjectSearch } from '../../addresses/traces.ts'
import { isSame, readColumns, usualColumns, writeColumns } from './columns.ts'
import type { Column } from './columns.ts'

const storageKey = 'studio.trace-columns'

/** Columns, and the callback that changes them. */
export interface ColumnsInUse {
  readonly columns: readonly Column[]
  /** True while nobody has chosen any. */
  readonly isUsual: boolean
  readonly choose: (columns: readonly Column[]) => void
}

/** The columns of a list. What somebody chooses is in the address, and comes back later. */
export function useColumns(text: string | undefined,
  set: (change: Partial<ProjectSearch>) => void): ColumnsInUse {
  const [remembered, remember] = useState(stored)
  const columns = useMemo(() => readColumns(text) ?? readColumns(remembered) ?? usualColumns, [text,
    remembered])
  const choose = useCallback((next: readonly Column[]) => {
    const written = isSame(next, usualColumns) ? undefined : writeColumns(next)
    remember(written)
    store(written)
    set({ cols: written })
  }, [set])
  return { columns, isUsual: isSame(columns, usualColumns), choose }
}

function stored(): string | undefined {
  try {
    return localStorage.getItem(storageKey) ?? undefined
  } catch {
    return undefined
  }
}

function store(text: string | undefined): void {
  try {
    if (text === undefined) localStorage.removeItem(storageKey)
    else localStorage.setItem(storageKey, text)
  } catch {
    // Without storage they are kept as long as the page.
  }
}
