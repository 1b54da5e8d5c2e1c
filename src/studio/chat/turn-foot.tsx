/** Foot of the last answer: its rating, its trace, and the time that it took. */

import { AddToDatasetButton } from '../datasets/add-to-dataset-button.tsx'
import type { ThreadState } from '../api/states.ts'
import { duration } from '../parts/amounts.ts'
import { MessageFeedback } from '../traces/feedback/message-feedback.tsx'
import { TraceLink } from '../parts/trace-link.tsx'
import css from './turn-foot.module.css'

/** The foot of the turn that a run made; `steps` are those that were read, newest first. */
export function TurnFoot({ runId, steps }: {
  readonly runId: string
  readonly steps: readonly ThreadState[]
}) {
  const tookMs = durationOf(steps.filter(({ metadata }) => metadata?.run_id === runId))
  return (
    <div className={css['foot']}>
      <MessageFeedback runId={runId} traceId={runId} />
      <AddToDatasetButton spanId={runId} quiet />
      <TraceLink runId={runId} className={css['trace'] ?? ''} />
      {tookMs !== undefined && (
        <span className={css['took']} title="From its input to its last step">
          {duration(tookMs)}
        </span>
      )}
    </div>
  )
}

/** From the first of the steps to the last; undefined if the first one was not read. */
function durationOf(steps: readonly ThreadState[]): number | undefined {
  const [last, first] = [steps[0]?.created_at, steps.at(-1)?.created_at]
  const isWhole = steps.length > 1 && steps.at(-1)?.metadata?.source === 'input'
  if (!isWhole || last == null || first == null) return undefined
  return Math.max(1, Date.parse(last) - Date.parse(first))
}
