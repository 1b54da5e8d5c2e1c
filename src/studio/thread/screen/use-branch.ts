/** Messages between the start of a branch and its first step: never the old branch. */

import { useCallback, useState } from 'react'

import { nowMs } from '../../env.ts'
import type { ChatMessage } from '../../live/message-merge.ts'

interface Begun {
  readonly messages: readonly ChatMessage[]
  /** The newest step before. */
  readonly headId: string | undefined
  readonly atMs: number
}

/** The newest step, when it was asked for, and when a run ended last; all by the page's clock. */
export interface Now {
  readonly headId: string | undefined
  readonly askedMs: number
  readonly overMs: number
}

/** State of a branch that starts, and the callbacks to begin and to forget it. */
export interface Branch {
  /** Messages that the branch goes on from; undefined once the newest step is its own. */
  readonly messages: readonly ChatMessage[] | undefined
  readonly begin: (messages: readonly ChatMessage[]) => void
  /** It did not come about. */
  readonly forget: () => void
}

/** Keeps the messages of a branch until the thread has its first step. */
export function useBranch({ headId, askedMs, overMs }: Now): Branch {
  const [begun, setBegun] = useState<Begun>()
  const begin = useCallback(
    (messages: readonly ChatMessage[]) => setBegun({ messages, headId, atMs: nowMs() }),
    [headId],
  )
  const forget = useCallback(() => setBegun(undefined), [])
  // A branch that has no step by the end of its run never gets one.
  const isNewer = begun !== undefined &&
    (begun.headId !== headId || (overMs > begun.atMs && askedMs > overMs))
  return { messages: isNewer ? undefined : begun?.messages, begin, forget }
}
