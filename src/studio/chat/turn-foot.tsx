/** What stands below the last answer: whether it was good, and its trace. */

import { MessageFeedback } from '../traces/message-feedback.tsx'
import { TraceLink } from '../traces/trace-link.tsx'
import css from './turn-foot.module.css'

/** The foot of the turn that a run made. */
export function TurnFoot({ runId }: { readonly runId: string }) {
  return (
    <div className={css['foot']}>
      <MessageFeedback runId={runId} traceId={runId} />
      <TraceLink runId={runId} className={css['trace'] ?? ''} />
    </div>
  )
}
