/** Goes to the oldest step: the steps before it are read first, page by page. */

import { useEffect, useState } from 'react'

import type { History } from '../thread/screen/history.ts'

/** Returns what begins it. It ends with the oldest step chosen, or when `chosen` changes. */
export function useOldest(history: History | undefined, more: () => Promise<void>,
  chosen: string | undefined, choose: (id: string) => void): () => void {
  const [from, setFrom] = useState<{ readonly chosen: string | undefined }>()
  const isUnderWay = from !== undefined && from.chosen === chosen
  useEffect(() => {
    if (!isUnderWay || history === undefined) return
    if (history.hasMore) return void more()
    setFrom(undefined)
    const last = history.steps.at(-1)?.checkpoint_id
    if (last != null) choose(last)
  }, [isUnderWay, history, more, choose])
  return () => setFrom({ chosen })
}
