/** Words of steps: asked for the rows on the screen, unless the steps wrote much. */

import { useQuery, useQueryClient } from '@tanstack/react-query'
import type { QueryClient } from '@tanstack/react-query'
import { useCallback, useMemo, useState } from 'react'

import { historyOf } from '../api/states.ts'
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
  const client = useQueryClient()
  const { data: answers } = useQuery({
    queryKey: ['words of steps', threadId, ...groups.map(keyOf)],
    enabled: groups.length > 0,
    staleTime: Infinity,
    queryFn: () => Promise.all(groups.map((group) => writesIn(client, threadId, group))),
  })
  const [kept] = useState(() => new Map<string, string>())
  const words = useMemo((): StepWords => {
    for (const { checkpoint_id: id, metadata } of answers?.flat() ?? []) {
      if (id != null) kept.set(id, wordsOf(metadata?.['writes']))
    }
    return new Map(kept)
  }, [answers, kept])
  return { words, seen }
}

const keyOf = ({ ids, before = 'now' }: Group) => `${before} ${ids[0]} ${ids.length}`

/** Resolves with the writes of the steps of a group, which never change. */
const writesIn = (client: QueryClient, threadId: string, group: Group) =>
  client.fetchQuery({
    queryKey: ['writes of steps', threadId, keyOf(group)],
    staleTime: Infinity,
    queryFn: ({ signal }) =>
      historyOf(threadId, { limit: group.ids.length, select: ['checkpoint_id', 'metadata.writes'],
        ...group.before !== undefined &&
          { before: { configurable: { checkpoint_id: group.before } } } }, signal),
  })

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
