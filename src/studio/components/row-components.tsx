/** The components below a message of the chat. */

import { useQuery } from '@tanstack/react-query'

import { componentBundle } from '../api/components.ts'
import { useLive } from '../live/live-store.ts'
import type { LiveStore } from '../live/live-store.ts'
import { messageOf } from '../parts/error-message.ts'
import { ComponentFrame } from './component-frame.tsx'
import css from './components.module.css'
import { shownBelow, uiMessagesOf } from './ui-message.ts'

/** Components of a thread, and the graph that brings them. */
export interface ThreadComponents {
  readonly graphId: string
  /** Messages about components, as the state has them. */
  readonly ui: unknown
}

interface RowProps extends ThreadComponents {
  readonly store: LiveStore
  /** False at a step of the past. */
  readonly isNow: boolean
  /** The ids of all messages of the chat. */
  readonly ids: ReadonlySet<string>
  readonly id: string
  readonly isLast: boolean
}

/** Frames below one message: a page with hundreds of them would be of no use. */
const framesMax = 10

const noEvents: readonly unknown[] = []

/** Draws them; nothing if there are none. */
export function RowComponents({ graphId, ui, store, isNow, ids, id, isLast }: RowProps) {
  const events = useLive(store, ({ run }) => isNow ? run?.ui ?? noEvents : noEvents)
  const shown = shownBelow(uiMessagesOf(ui, events), ids, id, isLast)
  const first = shown[0]
  const { data: bundle, error } = useQuery({ ...componentBundle(graphId, first?.name ?? ''),
    enabled: first !== undefined })
  if (first === undefined) return null
  if (error !== null) return <p className={css['broken']}>{messageOf(error)}</p>
  if (bundle === undefined) return null
  if (bundle === null) {
    return <p className={css['broken']}>{first.name}: the graph {graphId} has no component.</p>
  }
  return (
    <div className={css['list']}>
      {shown.slice(0, framesMax).map((message) => (
        <ComponentFrame key={message.id} bundle={bundle} message={message} />
      ))}
      {shown.length > framesMax && (
        <p className={css['broken']}>{shown.length - framesMax} more are in the state.</p>
      )}
    </div>
  )
}
