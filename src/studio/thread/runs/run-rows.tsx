/** The rows of runs, newest first. */

import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useId, useRef } from 'react'
import type { KeyboardEvent } from 'react'

import { isOver } from '../../api/runs.ts'
import type { Run } from '../../api/runs.ts'
import { inputWords } from '../../chat/input-words.ts'
import { duration } from '../../parts/amounts.ts'
import { runStatusOf, StatusGlyph, statusWords } from '../../parts/status.tsx'
import { TimeText } from '../../parts/times/time-text.tsx'
import { strategyOf } from './run-words.ts'
import css from './runs.module.css'

/** Runs, and which one is chosen. */
export interface RunRowsProps {
  readonly runs: readonly Run[]
  readonly chosen: string | undefined
  readonly choose: (id: string | undefined) => void
  /** Asks for older ones; undefined if there are none, or if they are on their way. */
  readonly more: (() => void) | undefined
}

const rowHeight = 48

/** Rows of the runs of a thread; only those on the screen are drawn. */
export function RunRows({ runs, chosen, choose, more }: RunRowsProps) {
  const box = useRef<HTMLDivElement>(null)
  const prefix = useId()
  const list = useVirtualizer({ count: runs.length, getScrollElement: () => box.current,
    estimateSize: () => rowHeight, overscan: 6, getItemKey: (at) => runs[at]!.run_id,
    useFlushSync: false })
  const items = list.getVirtualItems()
  const last = items.at(-1)?.index ?? 0
  useEffect(() => {
    if (last >= runs.length - 20) more?.()
  }, [last, runs.length, more === undefined])
  const at = runs.findIndex(({ run_id: id }) => id === chosen)
  const keys = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return
    const to =
      { ArrowDown: at + 1, j: at + 1, ArrowUp: at - 1, k: at - 1, Home: 0,
        End: runs.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    const next = Math.min(Math.max(to, 0), runs.length - 1)
    choose(runs[next]!.run_id)
    list.scrollToIndex(next)
  }
  return (
    <div ref={box} className={css['list']} role="listbox" aria-label="Runs" tabIndex={0}
      aria-activedescendant={items.some(({ index }) => index === at) ? `${prefix}${at}` : undefined}
      onKeyDown={keys}
    >
      <div role="presentation" style={{ height: list.getTotalSize() }}>
        {items.map(({ key, index, start }) => (
          <div key={key} id={`${prefix}${index}`} role="option" aria-selected={index === at}
            aria-posinset={index + 1} aria-setsize={runs.length} className={css['row']}
            style={{ transform: `translateY(${start}px)` }}
            onClick={() => choose(runs[index]!.run_id)}
          >
            <RunRow run={runs[index]!} />
          </div>
        ))}
      </div>
    </div>
  )
}

function RunRow({ run }: { readonly run: Run }) {
  const status = runStatusOf(run.status)
  const took = isOver(run) ? Date.parse(run.updated_at) - Date.parse(run.created_at) : null
  const about = [statusWords(status), strategyOf(run), run.run_id.slice(-8)].filter(Boolean)
  return (
    <>
      <StatusGlyph status={status} />
      <span className={css['words']}>
        <strong dir="auto">{inputWords(run).slice(0, 160)}</strong>
        <span className={css['meta']}>{about.join(' · ')}</span>
      </span>
      <span className={css['times']}>
        <TimeText iso={run.created_at} />
        <span className={css['meta']}>{took === null ? '' : duration(took)}</span>
      </span>
    </>
  )
}
