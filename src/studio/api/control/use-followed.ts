/** Follows a stream of a deployment while the page is seen: what comes at once is drawn at once. */

import { useEffect, useState } from 'react'

import { after } from '../../env.ts'
import type { Following } from './control.ts'

/** State of the connection of a stream. */
export interface Connection {
  /** True once the server has answered. */
  readonly isOpen: boolean
  /** Why the server refuses for good; undefined if it does not. */
  readonly error: unknown
  /** Why there is no connection now; it is tried again. */
  readonly away: Error | undefined
}

interface Followed<Item> {
  /** Names the stream: under another key, another one is followed. Null follows none. */
  readonly key: string | null
  readonly follow: (following: Following) => AsyncIterable<Item>
  readonly opened?: () => void
  /** Takes what came together. */
  readonly take: (items: readonly Item[]) => void
  readonly gatherMs: number
  /** So many items are taken before the time is over. */
  readonly gatheredMax: number
}

/** Follows the stream until its key changes or the component goes. */
export function useFollowed<Item>(followed: Followed<Item>): Connection {
  const [isOpen, setOpen] = useState(false)
  const [error, setError] = useState<unknown>()
  const [away, setAway] = useState<Error>()
  const { key } = followed
  useEffect(() => {
    if (key === null) return undefined
    const { follow, opened, take, gatherMs, gatheredMax } = followed
    const leave = new AbortController()
    let gathered: Item[] = []
    let forget: (() => void) | undefined
    const flush = () => {
      const items = gathered
      gathered = []
      forget?.()
      forget = undefined
      if (items.length > 0) take(items)
    }
    const read = async () => {
      const stream = follow({ signal: leave.signal, away: setAway, opened: () => {
        setOpen(true)
        opened?.()
      } })
      for await (const item of stream) {
        gathered.push(item)
        if (gathered.length >= gatheredMax) flush()
        else forget ??= after(gatherMs, flush)
      }
    }
    read().catch((thrown: unknown) => {
      if (leave.signal.aborted) return
      setAway(undefined)
      setError(thrown)
    })
    return () => {
      leave.abort()
      flush()
    }
  }, [key])
  return { isOpen, error, away }
}
