/** The rows of events: virtual, at the end while more come, moved through by keys. */

import { useVirtualizer } from '@tanstack/react-virtual'
import { useEffect, useId, useRef } from 'react'
import type { KeyboardEvent } from 'react'

import { size } from '../../parts/amounts.ts'
import { placeWords } from './event-words.ts'
import type { ReadEvent } from './event-words.ts'
import css from './events.module.css'

/** Events, and which one is chosen. */
export interface EventListProps {
  readonly rows: readonly ReadEvent[]
  readonly beganMs: number
  readonly chosen: ReadEvent | undefined
  readonly choose: (read: ReadEvent) => void
  /** Stays at the end while the reader is there. */
  readonly follow: boolean
}

const rowHeight = 26
/** So near to the end the reader is taken to be there, in pixels. */
const nearEnd = 40

/** List of events that follows its end until somebody scrolls away. */
export function EventList({ rows, beganMs, chosen, choose, follow }: EventListProps) {
  const box = useRef<HTMLDivElement>(null)
  const prefix = useId()
  const atEnd = useRef(true)
  const list = useVirtualizer({ count: rows.length, getScrollElement: () => box.current,
    estimateSize: () => rowHeight, overscan: 6, useFlushSync: false })
  useEffect(() => {
    if (follow && atEnd.current && chosen === undefined) list.scrollToIndex(rows.length - 1)
  }, [rows, follow])
  const at = chosen === undefined ? -1 : rows.indexOf(chosen)
  const move = (place: number) => {
    const next = Math.min(Math.max(place, 0), rows.length - 1)
    choose(rows[next]!)
    list.scrollToIndex(next)
  }
  const keys = (event: KeyboardEvent) => {
    if (event.metaKey || event.ctrlKey || event.altKey) return
    const page = Math.floor((box.current?.clientHeight ?? 0) / rowHeight) - 1
    const to =
      { ArrowDown: at + 1, j: at + 1, ArrowUp: at < 0 ? rows.length - 1 : at - 1,
        k: at < 0 ? rows.length - 1 : at - 1, PageDown: at + page, PageUp: at - page, Home: 0,
        End: rows.length - 1 }[event.key]
    if (to === undefined) return
    event.preventDefault()
    move(to)
  }
  const items = list.getVirtualItems()
  return (
    <div ref={box} className={css['list']} role="listbox" aria-label="Events" tabIndex={0}
      aria-activedescendant={items.some(({ index }) => index === at) ? `${prefix}${at}` : undefined}
      onKeyDown={keys} onScroll={({ currentTarget: { scrollHeight, scrollTop, clientHeight } }) => {
      atEnd.current = scrollHeight - scrollTop - clientHeight < nearEnd
    }}>
      <div role="presentation" style={{ height: list.getTotalSize() }}>
        {items.map(({ key, index, start }) => (
          <EventRow key={key} id={`${prefix}${index}`} read={rows[index]!} index={index}
            total={rows.length} start={start} beganMs={beganMs} isChosen={index === at}
            choose={choose} />
        ))}
      </div>
    </div>
  )
}

function EventRow({ id, read, index, total, start, beganMs, isChosen, choose }: {
  readonly id: string
  readonly read: ReadEvent
  readonly index: number
  readonly total: number
  readonly start: number
  readonly beganMs: number
  readonly isChosen: boolean
  readonly choose: (read: ReadEvent) => void
}) {
  const { event, mode, bytes } = read
  const place = placeWords(read)
  return (
    <div id={id} role="option" aria-selected={isChosen} aria-posinset={index + 1}
      aria-setsize={total} className={css['row']} style={{ transform: `translateY(${start}px)` }}
      onClick={() => choose(read)}
    >
      <span className={css['time']}>{`+${((event.atMs - beganMs) / 1_000).toFixed(3)}`}</span>
      <span className={css['id']} title={event.id}>{event.id}</span>
      <strong className={`${css['mode']} ${css[mode] ?? ''}`} title={event.event}>{mode}</strong>
      {place !== '' && <span className={css['space']}>{place}</span>}
      <code dir="auto">{event.text.slice(0, 400)}</code>
      <span className={css['size']}>{size(bytes)}</span>
    </div>
  )
}
