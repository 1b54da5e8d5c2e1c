/** The messages of a state: its end at first, older ones when somebody scrolls up. */

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useState } from 'react'

import { stateAt } from '../../api/states.ts'
import type { ThreadState } from '../../api/states.ts'
import type { ChatMessage } from '../../live/message-merge.ts'
import { keysOf, messagePage, newestState, ofComponents } from './newest-state.ts'

/** Messages below this place are asked for by the page; those from it on with each change. */
interface Anchor {
  readonly checkpointId: string
  readonly from: number
}

const messagesOf = (state: ThreadState | undefined): readonly ChatMessage[] => {
  const messages: unknown = state?.values?.['messages']
  return Array.isArray(messages) ? messages as ChatMessage[] : []
}

const fromOf = (state: ThreadState) => state.slices?.['messages']?.from ?? 0

const slice = (from: number | string,
  to: number | string = '') => ['checkpoint_id', `values.messages[${from}:${to}]`]

/** Messages at a checkpoint, or the newest ones. */
export function useMessages(threadId: string, at: string | undefined, isChat: boolean) {
  const key = [...keysOf(threadId).messages, at ?? 'now']
  const [place, setPlace] = useState<Anchor & { readonly at: string | undefined }>()
  const anchor = place !== undefined && place.at === at ? place : undefined
  const isNewest = at === undefined && anchor === undefined
  const end = useQuery({
    queryKey: isNewest ? keysOf(threadId).head : [...key, anchor?.from ?? 'end'],
    queryFn: ({ signal }): Promise<ThreadState> =>
      isNewest
        ? newestState(threadId, signal)
        : stateAt(threadId, at, [...slice(anchor?.from ?? -messagePage), ofComponents], signal),
    enabled: isChat,
    staleTime: at === undefined ? 2_000 : Infinity,
    placeholderData: (before, query) => query?.queryKey[1] === threadId ? before : undefined,
  })
  const older = useInfiniteQuery({
    queryKey: ['messages-before', threadId, anchor],
    enabled: anchor !== undefined,
    initialPageParam: anchor?.from ?? 0,
    queryFn: ({ pageParam, signal }) =>
      stateAt(threadId, anchor!.checkpointId,
        slice(Math.max(0, pageParam - messagePage), pageParam), signal),
    getNextPageParam: (last) => fromOf(last) > 0 ? fromOf(last) : null,
    staleTime: Infinity,
  })
  const { data } = end
  const first = anchor === undefined ? data && fromOf(data) : older.hasNextPage ? 1 : 0
  const more = () => {
    if (anchor !== undefined) {
      if (older.hasNextPage && !older.isFetching) void older.fetchNextPage()
    } else if (data?.checkpoint_id != null && fromOf(data) > 0) {
      setPlace({ checkpointId: data.checkpoint_id, from: fromOf(data), at })
    }
  }
  return {
    messages: [...older.data?.pages.toReversed().flatMap(messagesOf) ?? [], ...messagesOf(data)],
    /** Messages about components, of any form. */
    ui: data?.values?.['ui'],
    isPending: end.isPending && isChat,
    error: end.error,
    retry: () => void end.refetch(),
    checkpointId: data?.checkpoint_id ?? undefined,
    isFresh: !end.isPlaceholderData,
    hasOlder: first === undefined || first > 0,
    more,
  }
}
