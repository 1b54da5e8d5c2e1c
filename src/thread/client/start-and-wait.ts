/** Starts a run whose caller waits for its result, and starts it again if it was lost. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import type { AwaitedRun, StartRun } from '../model/thread-client.ts'
import { joinSteadily } from './join-across-owners.ts'
import type { JoinAcrossOwners } from './join-across-owners.ts'

/** A run to start, and how its thread is asked. */
export interface StartAndWait extends Pick<JoinAcrossOwners, 'env'> {
  readonly run: StartRun
  start(run: StartRun): Promise<RunRow>
  join(runId: string, cancelled?: AbortSignal): Promise<JsonText>
}

/**
 * Resolves when the run is accepted. An `awaited` run may be lost with its owner before it is on
 * disk: then waiting for it starts it again, with the same id.
 */
export async function startAndWait({ env, run, start, join }: StartAndWait): Promise<AwaitedRun> {
  const startedMs = env.monotonicMs()
  const row = await start(run)
  // A row with another id is of a run that an earlier request made: it is on disk.
  const mayBeLost = run.awaited && row.runId === run.runId
  const startAgain = async (): Promise<void> => {
    await start({ ...run, again: true, againAfterMs: env.monotonicMs() - startedMs })
  }
  return {
    row,
    result: (cancelled) =>
      joinSteadily({ env, made: true, startAgain: mayBeLost ? startAgain : undefined, cancelled,
        join: () => join(row.runId, cancelled) }),
  }
}
