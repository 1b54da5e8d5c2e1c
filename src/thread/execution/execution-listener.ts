/** Turns what executions report into commands to their thread. */

import type { ExecutionListener } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { ExecutionReport, ExecutionReports } from './execution-reports.ts'

/** Each call becomes a command, so that it gets a turn of its own. `reports` gets it as well. */
export function executionListener(executionId: number, { notify }: ThreadContext,
  reports?: ExecutionReports): ExecutionListener {
  const report = (command: ExecutionReport) => {
    reports?.add(command)
    notify(command)
  }
  return {
    steps: (batch) => new Promise((done) => report({ type: 'steps', executionId, batch, done })),
    ended: (outcome) => report({ type: 'ended', executionId, outcome }),
    lost: (reason) => report({ type: 'lost', executionId, reason }),
  }
}
