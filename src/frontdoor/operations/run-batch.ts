/** Creates several runs with one request. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { BatchRun } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import { errorAt } from '../schema/list-checker.ts'
import type { RunCaller } from './run-request.ts'

/** Checks a run of a batch, for a caller. The result starts it. */
export interface RunPreparation<Who> {
  prepare(who: Who, body: BatchRun, caller: RunCaller): Promise<() => Promise<RunRow>>
}

/**
 * Checks all runs, then starts them one by one. If one cannot be started after others were, it
 * throws `partly_done`, with the runs that were started: who sends the batch again would start
 * those twice.
 */
export async function createBatch<Who>(runs: RunPreparation<Who>, who: Who,
  bodies: readonly BatchRun[], caller: RunCaller): Promise<RunRow[]> {
  const starts: (() => Promise<RunRow>)[] = []
  for (const [index, body] of bodies.entries()) {
    const own = { ...caller, commandId: keyAt(caller.commandId, index) }
    starts.push(await runs.prepare(who, body, own).catch((error: unknown) => {
      throw errorAt(index, error)
    }))
  }
  const started: RunRow[] = []
  for (const [index, start] of starts.entries()) {
    const row = await start().catch((error: unknown) => {
      throw started.length === 0 ? errorAt(index, error) : partlyDone(started, index, error)
    })
    started.push(row)
  }
  return started
}

/** Each run of a batch that is sent again with its key is found again. */
function keyAt(key: string, index: number): string {
  return key === '' ? '' : `${key} ${index}`
}

function partlyDone(started: readonly RunRow[], index: number, caught: unknown): HeddleError {
  const { message, code } = HeddleError.from(caught)
  return new HeddleError('partly_done',
    `Run ${index} of the batch and those after it were not started (${code}): ${message}`, {
    errors: [{ field: String(index), message }],
    admitted: started.map(({ runId, threadId }) => ({ run_id: runId, thread_id: threadId })),
  }, { cause: caught })
}
