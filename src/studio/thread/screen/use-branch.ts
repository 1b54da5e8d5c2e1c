/** Messages between the start of a branch and its first step: never the old branch. */

import { useCallback, useEffect, useState } from 'react'

import { nowMs } from '../../env.ts'
import type { ChatMessage } from '../../live/message-merge.ts'

interface Begun {
  readonly messages: readonly ChatMessage[]
  /** The newest step before. */
  readonly headId: string | undefined
  /** When its run ended, by which a branch has a step if it ever gets one. */
  readonly overMs: number | undefined
}

/** The newest step, when it was asked for, and whether a run goes on. */
export interface Now {
  readonly headId: string | undefined
  readonly askedMs: number
  readonly isBusy: boolean
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
export function useBranch({ headId, askedMs, isBusy }: Now): Branch {
  const [begun, setBegun] = useState<Begun>()
  useEffect(() => {
    if (!isBusy) return
    return () => setBegun((old) => old && { ...old, overMs: nowMs() })
  }, [isBusy])
  const begin = useCallback(
    (messages: readonly ChatMessage[]) => setBegun({ messages, headId, overMs: undefined }),
    [headId],
  )
  const forget = useCallback(() => setBegun(undefined), [])
  const isNewer = begun !== undefined &&
    (begun.headId !== headId || (begun.overMs !== undefined && askedMs > begun.overMs))
  return { messages: isNewer ? undefined : begun?.messages, begin, forget }
}
