/** What steps said, in words: asked for the rows that somebody looks at, where it is not long. */

import { useQueries } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'

import { post } from '../api/client.ts'
import type { ThreadState } from '../api/states.ts'
import { wordsOf } from './steps.ts'
import type { StepWords } from './steps.ts'

/** Steps whose words are asked for together, and how much they may have written. */
const groupLength = 25
const bytesMax = 200_000

/** Groups end at fixed steps, counted from the oldest one that is known: new ones move nothing. */
interface Group {
  readonly ids: readonly string[]
  /** The step above, before which the group begins; undefined for the newest. */
  readonly before: string | undefined
}

/** Words of the steps that are seen. */
export function useStepWords(threadId: string, states: readonly ThreadState[]) {
  /** As one text: the same steps are the same state. */
  const [ids, setIds] = useState('')
  const seen = useCallback((each: readonly string[]) => setIds(each.join(' ')), [])
  const groups = useMemo(() => groupsIn(states, new Set(ids.split(' '))), [states, ids])
  const answers = useQueries({
    queries: groups.map(({ ids, before }) => ({
      queryKey: ['step words', threadId, before ?? 'now', ids[0], ids.length],
      staleTime: Infinity,
      queryFn: ({ signal }: { signal: AbortSignal }) =>
        post<ThreadState[]>(`/threads/${threadId}/history`, { limit: ids.length,
          select: ['checkpoint_id', 'metadata.writes'],
          ...before !== undefined && { before: { configurable: { checkpoint_id: before } } } },
          signal),
    })),
    combine: (results) => results.flatMap(({ data }) => data ?? []),
  })
  const [kept] = useState(() => new Map<string, string>())
  const words = useMemo((): StepWords => {
    for (const { checkpoint_id: id, metadata } of answers) {
      if (id != null) kept.set(id, wordsOf(metadata?.['writes']))
    }
    return new Map(kept)
  }, [answers, kept])
  return { words, seen }
}

/** The groups with a step that is looked at. */
function groupsIn(states: readonly ThreadState[], ids: ReadonlySet<string>): readonly Group[] {
  const groups: Group[] = []
  const offset = states.length % groupLength
  const first = offset === 0 ? 0 : offset - groupLength
  for (let at = first; at < states.length; at += groupLength) {
    const members = states.slice(Math.max(0, at), at + groupLength)
    const isSeen = members.some(({ checkpoint_id: id }) => ids.has(id ?? ''))
    if (!isSeen || bytesOf(members) > bytesMax) continue
    groups.push({ ids: members.map(({ checkpoint_id: id }) => id!),
      before: at <= 0 ? undefined : states[at - 1]!.checkpoint_id ?? undefined })
  }
  return groups
}

function bytesOf(states: readonly ThreadState[]): number {
  return states.reduce(
    (sum, { channels = {} }) =>
      sum + Object.values(channels).reduce((all, bytes) => all + bytes, 0),
    0,
  )
}
