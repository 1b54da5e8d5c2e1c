/** Conversations of a tracing project: its traces by their thread. */

import { ask } from '../ask.ts'
import type { TraceQuestion } from './traces.ts'

/** Conversations of a page. */
const conversationsAtOnce = 50

/** A page of the conversations of a project, the one with the newest trace first. */
export const conversationPage = ({ projectId, filter, fromMs }: TraceQuestion,
  cursor: string | null, signal?: AbortSignal) =>
  ask('POST /api/v2/threads/query', { signal,
    body: { project_ids: [projectId], page_size: conversationsAtOnce, min_start_time: fromMs,
      ...filter !== undefined && { filter }, ...cursor !== null && { cursor } } })

/** A conversation in a list. */
export type Conversation = Awaited<ReturnType<typeof conversationPage>>['items'][number]
