/** Chosen threads, and the bulk action that people are asked about. */

import { useState } from 'react'

import type { BulkAct, BulkTarget } from '../api/bulk.ts'
import type { ThreadFilter } from '../api/threads.ts'
import { nowMs } from '../env.ts'
import type { BulkRequest } from './bulk-dialog.tsx'
import type { Choice } from '../rows/choice.ts'

/** The choice among the threads of a filter, and the action on them that is asked about. */
export function useBulk(filter: ThreadFilter) {
  const [choice, choose] = useState<Choice>()
  const [request, setRequest] = useState<BulkRequest>()
  return {
    choice,
    choose,
    request,
    ask: (act: BulkAct) => {
      if (choice !== undefined) setRequest({ act, target: targetOf(choice, filter) })
    },
    close: (changed: boolean) => {
      setRequest(undefined)
      if (changed) choose(undefined)
    },
  }
}

function targetOf(choice: Choice, { ids, ...rest }: ThreadFilter): BulkTarget {
  const chosen = choice === 'all' ? ids : [...choice]
  if (chosen !== undefined) return { kind: 'chosen', ids: chosen }
  // A request must name a condition: all threads are those that were updated before now.
  const isAny = Object.keys(rest).length === 0
  return { kind: 'matching',
    filter: isAny ? { updated_before: new Date(nowMs()).toISOString() } : rest }
}
