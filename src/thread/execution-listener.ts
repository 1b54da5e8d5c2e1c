/** How a thread hears of its executions: as commands to itself, and as records for its log. */

import type { RecordOf } from '../checkpoint/index.ts'
import type { ExecutionListener, Step } from '../graph/index.ts'
import type { ThreadLedger } from './thread-ledger.ts'
import type { ThreadSetting } from './thread-setting.ts'

/** Each call becomes a command, so that it is heard in a turn of its own. */
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

/** Nested checkpoints that grow from one of an earlier run must be looked up first. */
export function unknownParents(steps: readonly Step[], ledger: Pick<ThreadLedger, 'knows'>):
  { ns: string; id: string }[] {
  const seen = new Set<string>()
  return steps.flatMap((step) => {
    if (step.$case !== 'checkpoint') return []
    const { ns, id, full, parentId } = step.value
    seen.add(`${ns}\n${id}`)
    const known = ns === '' || full || seen.has(`${ns}\n${parentId}`) || ledger.knows(ns, parentId)
    return known ? [] : [{ ns, id: parentId }]
  })
}
