/** Foot of a turn: its time, its tokens, its cost and its trace; of the last one its rating. */

import { AddToDatasetButton } from '../datasets/add-to-dataset-button.tsx'
import type { RunUsage } from '../api/platform/thread-usage.ts'
import { MessageFeedback } from '../traces/feedback/message-feedback.tsx'
import { TraceLink } from '../parts/trace-link.tsx'
import { UsageLine } from '../parts/usage/usage-line.tsx'
import css from './turn-foot.module.css'

/** The foot of the turn that a run made. */
export function TurnFoot({ runId, usage, isLast = false }: {
  readonly runId: string
  /** Undefined until it is known. */
  readonly usage: RunUsage | undefined
  readonly isLast?: boolean
}) {
  return (
    <div className={css['foot']} role="group" aria-label="Turn">
      {isLast && (
        <>
          <MessageFeedback runId={runId} traceId={runId} />
          <AddToDatasetButton spanId={runId} quiet />
        </>
      )}
      {usage !== undefined && <UsageLine usage={usage} />}
      <TraceLink runId={runId} className={css['trace'] ?? ''} />
    </div>
  )
}
