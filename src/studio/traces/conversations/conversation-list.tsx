/** The conversations of a project: the traces of each thread in one row, the latest first. */

import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useMemo } from 'react'

import { assistantList } from '../../api/assistants.ts'
import { conversationPage } from '../../api/platform/conversations.ts'
import type { Conversation } from '../../api/platform/conversations.ts'
import type { TraceQuestion } from '../../api/platform/traces.ts'
import { Empty } from '../../parts/empty.tsx'
import { RowList } from '../../rows/row-list.tsx'
import { conversationSearch } from './conversation-search.ts'
import { ConversationRow } from './conversation-row.tsx'

/** List of the conversations that have a trace which the filter finds. */
export function ConversationList({ question, projectName, isFiltered }: {
  readonly question: TraceQuestion
  readonly projectName: string | undefined
  readonly isFiltered: boolean
}) {
  const navigate = useNavigate()
  const { projectId, filter, fromMs } = question
  const pages = useInfiniteQuery({
    queryKey: ['traces', 'conversations', projectId, filter, fromMs],
    queryFn: ({ pageParam, signal }) => conversationPage(question, pageParam, signal),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next_cursor: next }) => next ?? undefined,
    refetchOnWindowFocus: false,
    staleTime: 30_000,
  })
  const rows = useMemo(() => pages.data?.pages.flatMap(({ items }) => items), [pages.data])
  const { data: assistants } = useQuery(assistantList)
  const isOwn = assistants?.some(({ graph_id: graph }) => graph === projectName) ?? false
  const open = ({ thread_id: id }: Conversation) =>
    void (isOwn
      ? navigate({ to: '/threads/$id', params: { id }, search: {} })
      : navigate({ to: '/traces/$project', params: { project: projectId },
        search: conversationSearch(id) }))
  return (
    <RowList pages={pages} rows={rows} label="Conversations" noun="conversation" rowHeight={52}
      place={`conversations ${projectId} ${filter ?? ''} ${fromMs}`} open={open}
      row={(conversation) => (
        <ConversationRow conversation={conversation} projectId={projectId} isOwn={isOwn} />
      )} empty={isFiltered
      ? (
        <Empty title="No conversation matches">
          <p>The filter is about the traces of conversations.</p>
        </Empty>
      )
      : (
        <Empty title="No conversations yet">
          <p>
            Traces with the same <code>thread_id</code> or <code>session_id</code>{' '}
            in their metadata are a conversation.
          </p>
        </Empty>
      )} />
  )
}
