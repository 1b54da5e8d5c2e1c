/** Turns what executions report into commands to their thread, and into records for its log. */

import type { RecordOf } from '../../checkpoint/index.ts'
import type { ExecutionListener, Step } from '../../graph/index.ts'
import type { ThreadSetting } from '../context/thread-context.ts'

/** Each call becomes a command, so that it gets a turn of its own. */
export function executionListener(executionId: number, { tell }: ThreadSetting):
  ExecutionListener {
  return {
    steps: (batch) => new Promise((done) => tell({ type: 'steps', executionId, batch, done })),
    ended: (outcome) => tell({ type: 'ended', executionId, outcome }),
    lost: (reason) => tell({ type: 'lost', executionId, reason }),
  }
}

/** The steps as the log keeps them. `runId` is empty for an edit. */
export function stepRecords(steps: readonly Step[], runId: string, atMs: number): RecordOf[] {
  return steps.map((step) => step.$case === 'writes' ? step
    : { $case: 'checkpoint', value: { ...step.value, runId, atMs } })
}
