/** The conversation of a thread: what was said, what is being said, and what a run does. */

import { useVirtualizer } from '@tanstack/react-virtual'
import { lazy, Suspense, useEffect, useLayoutEffect, useMemo, useRef } from 'react'
import type { ReactNode } from 'react'

import type { LiveStore } from '../live/live-store.ts'
import { useLive } from '../live/live-store.ts'
import type { ChatMessage } from '../live/message-merge.ts'
import { Button } from '../parts/button.tsx'
import { Icon } from '../parts/icon.tsx'
import type { ThreadComponents } from '../components/row-components.tsx'
import css from './chat.module.css'
import { MessageGuard } from './message-guard.tsx'
import { Message } from './message.tsx'
import { resultsOf, rowsOf } from './messages.ts'
import type { ChatRow } from './messages.ts'
import type { Turns } from './turns.ts'

const TurnFoot = lazy(async () => ({ default: (await import('./turn-foot.tsx')).TurnFoot }))
const RowComponents = lazy(async () => ({
  default: (await import('../components/row-components.tsx')).RowComponents,
}))

/** Messages of a chat, and the callbacks that it needs. */
export interface ChatProps {
  readonly store: LiveStore
  /** Messages of the state, with those that were sent just now. */
  readonly messages: readonly ChatMessage[]
  /** False at a step of the past: there nothing is going on. */
  readonly isNow: boolean
  /** Another one shows the end of another conversation. */
  readonly place: string
  readonly hasOlder: boolean
  readonly older: () => void
  /** Components that the graph shows; undefined if it has none. */
  readonly components: ThreadComponents | undefined
  /** Runs that ended, by the row at which they did. */
  readonly turns: Turns
  /** Sends other words in place of a message of one's own. */
  readonly edit: ((message: ChatMessage, words: string) => Promise<void>) | undefined
  /** Content below the last message. */
  readonly children?: ReactNode
  /** Content of a chat without messages. */
  readonly empty: ReactNode
}

/** Rows that an estimate is made for. */
const estimateOf = ({ message }: ChatRow) =>
  56 + Math.ceil(String(message.content).length / 90) * 22

/** Messages of a conversation, with those of the run that is followed. */
export function Chat(
  { store, messages, isNow, place, hasOlder, older, components, turns, edit, children, empty }:
    ChatProps,
) {
  const said = useLive(store, ({ run }) => isNow ? keysOf(run?.messages) : '')
  const isShowing = useLive(store, ({ run }) => isNow && run?.ui !== undefined)
  const hasComponents = isShowing || components?.ui !== undefined
  const rows = useMemo(() => {
    const live = isNow ? store.state().run?.messages : undefined
    const all = rowsOf(messages, live)
    return { all, results: resultsOf(messages, live), ids: new Set(all.map(({ key }) => key)) }
  }, [messages, said, isNow, store])
  const box = useRef<HTMLDivElement>(null)
  const list = useVirtualizer({ count: rows.all.length + 1, overscan: 6, gap: 14, paddingStart: 20,
    paddingEnd: 12, anchorTo: 'end', followOnAppend: true, scrollEndThreshold: 40,
    getScrollElement: () => box.current,
    estimateSize: (at) => at < rows.all.length ? estimateOf(rows.all[at]!) : 8,
    getItemKey: (at) => rows.all[at]?.key ?? 'end' })
  const items = list.getVirtualItems()
  const size = list.getTotalSize()
  useOlderIfShort(size < (box.current?.clientHeight ?? 0) && hasOlder, older)
  const hasRows = rows.all.length > 0
  useEffect(() => {
    if (hasRows) list.scrollToEnd()
  }, [list, hasRows, place])
  const follow = useFollow(box, size)
  return (
    <div className={css['frame']}>
      <div className={css['chat']} ref={box} tabIndex={0} role="log" aria-label="Conversation"
        onScroll={({ currentTarget: { scrollTop } }) => {
          follow()
          if (scrollTop < 300 && hasOlder) older()
        }}
      >
        {!hasRows && empty}
        <div className={css['rows']} style={{ height: hasRows ? size : 'auto' }}>
          {items.map(({ index, start, key }) => {
            const row = rows.all[index]
            return (
              <div key={key} ref={list.measureElement} data-index={index}
                className={hasRows ? css['row'] : css['lone']}
                style={hasRows ? { transform: `translateY(${start}px)` } : {}}
              >
                {row === undefined
                  ? <div className={css['end']}>{children}</div>
                  : (
                    <MessageGuard>
                      <Message row={row} store={store} results={rows.results} edit={edit} />
                      {components !== undefined && hasComponents && (
                        <Suspense>
                          <RowComponents {...components} store={store} isNow={isNow} ids={rows.ids}
                            id={row.key} isLast={index === rows.all.length - 1} />
                        </Suspense>
                      )}
                      <Foot turns={turns} row={row.key} />
                    </MessageGuard>
                  )}
              </div>
            )
          })}
        </div>
      </div>
      {hasRows && !list.isAtEnd(200) && <ToEnd go={() => list.scrollToEnd()} />}
    </div>
  )
}

/** A chat that does not fill its place reads what was said before. */
function useOlderIfShort(isShort: boolean, older: () => void): void {
  useEffect(() => {
    if (isShort) older()
  }, [isShort, older])
}

/** Pixels from the end within which a reader looks at the end. */
const endPx = 40

/**
 * Keeps the end in sight while the chat grows, unless the reader has scrolled up. Returns what is
 * to be called when the chat was scrolled.
 */
function useFollow(box: React.RefObject<HTMLDivElement | null>, size: number): () => void {
  const known = useRef({ isAtEnd: true, top: 0, height: 0 })
  useLayoutEffect(() => {
    const element = box.current
    if (element !== null && known.current.isAtEnd) element.scrollTop = element.scrollHeight
  }, [box, size])
  return () => {
    const { scrollTop: top, scrollHeight: height, clientHeight } = box.current!
    const wentUp = top < known.current.top && height >= known.current.height
    const isNear = height - top - clientHeight <= endPx
    known.current = { isAtEnd: isNear || (known.current.isAtEnd && !wentUp), top, height }
  }
}

function ToEnd({ go }: { readonly go: () => void }) {
  return (
    <Button small className={css['down'] ?? ''} icon={<Icon name="down" size={14} />} onClick={go}>
      To the end
    </Button>
  )
}

function Foot({ turns, row }: { readonly turns: Turns; readonly row: string }) {
  const run = turns.get(row)
  if (run === undefined) return null
  return (
    <Suspense>
      <TurnFoot runId={run.run_id} usage={run} />
    </Suspense>
  )
}

/** Changes when a message begins, not when it grows; results of tools come whole. */
function keysOf(messages: ReadonlyMap<string, ChatMessage> | undefined): string {
  return messages === undefined ? '' : [...messages.keys()].join(' ')
}
