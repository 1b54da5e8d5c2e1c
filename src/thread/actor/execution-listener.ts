/** Turns what executions report into commands to their thread, and into records for its log. */

import type { RecordOf } from '../../checkpoint/index.ts'
import type { ExecutionListener, Step } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'

/** Each call becomes a command, so that it gets a turn of its own. */
export function executionListener(executionId: number,
  { notify }: ThreadContext): ExecutionListener {
  return {
    steps: (batch) => new Promise((done) => notify({ type: 'steps', executionId, batch, done })),
    ended: (outcome) => notify({ type: 'ended', executionId, outcome }),
    lost: (reason) => notify({ type: 'lost', executionId, reason }),
  }
}

/** The steps as the log keeps them. `runId` is empty for an edit. */
export function stepRecords(steps: readonly Step[], runId: string, atMs: number): RecordOf[] {
  return steps.map((step) =>
    step.$case === 'writes' ?
      step
      : { $case: 'checkpoint', value: { ...step.value, runId, atMs } }
  )
}
