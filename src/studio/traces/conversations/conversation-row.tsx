/** A conversation in the list: what was said last, its turns, and what they used. */

import { Link } from '@tanstack/react-router'
import { memo } from 'react'

import type { Conversation } from '../../api/platform/conversations.ts'
import { count, counted } from '../../parts/amounts.ts'
import { Skeleton } from '../../parts/skeleton.tsx'
import { StatusGlyph } from '../../parts/status.tsx'
import { TimeText } from '../../parts/times/time-text.tsx'
import { dollars } from '../../parts/trace-words.ts'
import { conversationSearch } from './conversation-search.ts'
import css from './conversations.module.css'

/** A row; without a conversation it is one that is still being read. */
export const ConversationRow = memo(({ conversation, projectId, isOwn }: {
  readonly conversation: Conversation | undefined
  readonly projectId: string
  /** True if its traces are runs of this server, which has the thread. */
  readonly isOwn: boolean
}) => {
  if (conversation === undefined) {
    return (
      <div className={css['row']} role="gridcell">
        <Skeleton width={220} />
      </div>
    )
  }
  const { thread_id: id, count: turns, num_errored_turns: failed, last_error: error,
    last_inputs: asked, last_outputs: answered, total_tokens: tokens, total_cost: cost } =
      conversation
  const isFailed = error !== null && answered === null
  const words = asked || id
  return (
    <div className={css['row']} role="presentation">
      <span role="gridcell" className={css['glyph']}>
        <StatusGlyph status={isFailed ? 'failed' : 'done'} />
        <span className="unseen">{isFailed ? 'Failed' : 'Done'}</span>
      </span>
      <span role="gridcell" className={css['words']}>
        {isOwn
          ? (
            <Link to="/threads/$id" params={{ id }} search={{}} tabIndex={-1} dir="auto" title={id}>
              {words}
            </Link>
          )
          : (
            <Link to="/traces/$project" params={{ project: projectId }} tabIndex={-1} dir="auto"
              search={conversationSearch(id)} title={id}
            >
              {words}
            </Link>
          )}
        <span className={isFailed ? css['error'] : ''} dir="auto">
          {isFailed ? error : answered}
        </span>
      </span>
      <span role="gridcell" className={css['number']}>
        {isOwn
          ? (
            <Link to="/traces/$project" params={{ project: projectId }} tabIndex={-1}
              search={conversationSearch(id)} className={css['turns']} title="Show its traces"
            >
              {counted(turns, 'turn')}
            </Link>
          )
          : counted(turns, 'turn')}
        {failed > 0 && <small className={css['error']}>{count(failed)} failed</small>}
      </span>
      <span role="gridcell" className={`${css['number']} ${css['use']}`}>
        {tokens > 0 ? `${count(tokens)} tokens` : ''}
        {cost > 0 && <small>{dollars(cost)}</small>}
      </span>
      <span role="gridcell" className={`${css['number']} ${css['time']}`}>
        <TimeText iso={conversation.max_start_time} />
        {turns > 1 && (
          <small>
            first <TimeText iso={conversation.min_start_time} />
          </small>
        )}
      </span>
    </div>
  )
})
