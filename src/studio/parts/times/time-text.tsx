/** Times on the page: "21m ago", "in 5 min" or whole; their tooltips have the zone. */

import { useSyncExternalStore } from 'react'

import { every, nowMs } from '../../env.ts'
import { isHidden } from '../../in-sight.ts'
import { ago } from '../amounts.ts'
import { exactWords, momentWords, until } from './moment.ts'
import type { MomentStyle } from './moment.ts'

const listeners = new Set<() => void>()
let shownMs = nowMs()
let stop: (() => void) | undefined

/** One timer for all times of the page, and none where nobody looks. */
function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  stop ??= every(10_000, () => {
    if (isHidden()) return
    shownMs = nowMs()
    for (const each of listeners) each()
  })
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    stop?.()
    stop = undefined
  }
}

const useNow = () => useSyncExternalStore(subscribe, () => shownMs)

/** Time since that of an ISO text, such as "21m ago". */
export function TimeText({ iso }: { readonly iso: string }) {
  const now = useNow()
  const then = Date.parse(iso)
  return (
    <time dateTime={iso} title={exactWords(then)}>
      {ago(then, Math.max(now, then))}
    </time>
  )
}

/** Time until that of an ISO text, such as "in 5 min". */
export function TimeUntil({ iso }: { readonly iso: string }) {
  const now = useNow()
  const then = Date.parse(iso)
  return <time dateTime={iso} title={exactWords(then)}>{until(then, now)}</time>
}

/** The whole time of an ISO text, with its zone. */
export function Moment({ iso, zone, seconds = false }: { readonly iso: string } & MomentStyle) {
  const ms = Date.parse(iso)
  return <time dateTime={iso} title={exactWords(ms)}>{momentWords(ms, { zone, seconds })}</time>
}
