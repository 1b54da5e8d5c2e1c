/** A time as "21m ago", whole in its tooltip; it goes on by itself. */

import { useSyncExternalStore } from 'react'

import { every, nowMs } from '../env.ts'
import { isHidden } from '../in-sight.ts'
import { ago } from './amounts.ts'

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

/** The time of an ISO text. */
export function TimeText({ iso }: { readonly iso: string }) {
  const now = useSyncExternalStore(subscribe, () => shownMs)
  const then = Date.parse(iso)
  return (
    <time dateTime={iso} title={new Date(then).toLocaleString()}>
      {ago(then, Math.max(now, then))}
    </time>
  )
}
