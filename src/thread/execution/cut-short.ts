/** Stops the execution of a run that is cut, so that the log has its input and completed steps. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { goingAway } from '../../errors.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { lacksInput } from '../decide/cut-run.ts'
import { endingOf } from '../decide/run-result.ts'
import type { Ending } from '../decide/run-result.ts'
import type { RunExecution } from './run-execution.ts'
import type { WorkSlot } from './work-slot.ts'

/** The parts of an activation that an execution needs. */
interface ExecutionParts {
  readonly context: Pick<ThreadContext, 'threadLog'>
  readonly slot: WorkSlot
}

/**
 * Time limits in milliseconds: for the worker to report the completed steps, and then for another
 * worker to add the input. A worker responds within milliseconds unless code blocks its loop.
 */
const waits = { completedMs: 3_000, inputMs: 2_000 } as const

/**
 * Call in the turn that cuts these runs without a rollback. If a worker executes a run, the log
 * then has its input and all of its completed supersteps. Resolves with the ending if that run
 * ended before the stop. Returns undefined if no worker executes any of the runs.
 */
export function cutShort(parts: ExecutionParts, runs: readonly Pick<RunRow, 'runId'>[]):
  | Promise<Ending | undefined>
  | undefined {
  const { execution: current } = parts.slot
  const isCut = current !== undefined && runs.some(({ runId }) => runId === current.run.runId)
  return isCut ? stopExecution(parts, current) : undefined
}

async function stopExecution(parts: ExecutionParts,
  execution: RunExecution): Promise<Ending | undefined> {
  const { slot, context: { threadLog } } = parts
  const ending = await stop(slot, execution, waits.completedMs)
  if (ending) return ending
  const run = threadLog.state.runs.find(({ runId }) => runId === execution.run.runId)
  // Without a start, the log could not be read. A suspect may end the process that executes it.
  const mayAdd = execution.begun && run?.suspect === false && lacksInput(threadLog.state, run)
  if (!mayAdd) return undefined
  slot.abort()
  slot.execute({ run, resumes: (run.starts ?? 1) > 1, woken: false, stops: true })
  return await stop(slot, slot.execution!, waits.inputMs)
}

/** Throws if the activation ended during the wait, because no decision is allowed then. */
async function stop(slot: WorkSlot, execution: RunExecution,
  ms: number): Promise<Ending | undefined> {
  const outcome = await execution.stop(ms)
  if (slot.current !== execution) throw goingAway()
  return outcome && endingOf(outcome)
}
