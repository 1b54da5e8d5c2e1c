/** Two values as one tree: what was added, what is gone, what changed. */

import { useMemo, useState, useSyncExternalStore } from 'react'

import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import { useKeys } from '../parts/keys.ts'
import { ChangedWords } from './changed-words.tsx'
import css from './json-comparison.module.css'
import { JsonRowList } from './json-row-list.tsx'
import type { DrawValue } from './json-row.tsx'
import { changesIn, comparedRows } from './json-rows.ts'
import type { JsonRow } from './json-rows.ts'
import { useBranches } from './json-tree.tsx'
import { wholeParts, wordParts } from './word-parts.ts'

/** Two values, and words for them. */
export interface JsonComparisonProps {
  readonly before: unknown
  readonly after: unknown
  /** Name that the root is shown under; paths begin with it. */
  readonly rootName: string
  /** Said of two equal values. */
  readonly same: string
}

/** Comparison of two values, before and after beside each other. */
export function JsonComparison({ before, after, rootName, same }: JsonComparisonProps) {
  const { isOpen, toggle } = useBranches(({ sign, depth }) => sign === 'inside' || depth === 0,
    undefined)
  const rows = useMemo(
    () => comparedRows(before, after, [rootName], isOpen),
    [before, after, rootName, isOpen],
  )
  const changes = useMemo(() => changesIn(rows), [rows])
  const [shown, setShown] = useState<string>()
  const at = changes.findIndex((place) => rows[place]!.id === shown)
  const move = (by: number) => {
    const next = at < 0 ? (by > 0 ? 0 : changes.length - 1) : at + by
    const place = changes[(next + changes.length) % changes.length]
    if (place !== undefined) setShown(rows[place]!.id)
  }
  useKeys('Compare', {
    n: { words: 'Next change', act: () => move(1) },
    p: { words: 'Previous change', act: () => move(-1) },
  })
  const twoColumns = useWide()
  return (
    <section className={css['comparison']} aria-label="Comparison">
      <header className={css['bar']}>
        <span className={css['meta']} role="status">{totals(rows) ?? same}</span>
        <span className={css['acts']}>
          {changes.length > 0 && (
            <>
              <Button small kind="quiet" label="Previous change (p)"
                icon={<Icon name="up" size={14} />} onClick={() => move(-1)} />
              <Button small kind="quiet" label="Next change (n)"
                icon={<Icon name="down" size={14} />} onClick={() => move(1)} />
            </>
          )}
        </span>
      </header>
      <JsonRowList rows={rows} label="Changes" rootName={rootName} toggle={toggle} fill
        shown={shown} draw={drawn} twoColumns={twoColumns} />
    </section>
  )
}

/** "2 added, 1 removed" of what is seen; members of new branches count with them. */
function totals(rows: readonly JsonRow[]): string | undefined {
  const counts = { added: 0, removed: 0, changed: 0, moved: 0 }
  const signs: (string | null)[] = []
  for (const { sign, depth } of rows) {
    signs[depth] = sign
    if (sign !== null && sign !== 'inside' && signs[depth - 1] !== sign) counts[sign]++
  }
  const said = Object.entries(counts).filter(([, many]) => many > 0)
    .map(([what, many]) => `${many} ${what}`)
  return said.length === 0 ? undefined : said.join(', ')
}

/** From this width on, what was and what is stand beside each other. */
const wide = matchMedia('(min-width: 1400px)')

function useWide(): boolean {
  return useSyncExternalStore((listener) => {
    wide.addEventListener('change', listener)
    return () => wide.removeEventListener('change', listener)
  }, () => wide.matches)
}

/** Draws a changed value: its words compared, or the old one and the new one. */
const drawn: DrawValue = (row, side) => {
  if (row.sign !== 'changed') return undefined
  const { before, value } = row
  const parts = typeof before === 'string' && typeof value === 'string'
    ? wordParts(before, value)
    : wholeParts(before, value)
  return (
    <span className={css['changed']} dir="auto">
      <ChangedWords parts={parts} side={side} />
    </span>
  )
}
