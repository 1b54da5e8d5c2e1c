/** Turns what executions report into commands to their thread. */

import type { ExecutionListener } from '../../graph/index.ts'
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
