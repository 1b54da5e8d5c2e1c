/** Waits for the run that follows another one on a thread, on whatever member it is started. */

import type { McpParts } from './call.ts'
import { newestRun } from './kept-call.ts'
import type { RunName } from '../operations/index.ts'
import { HeddleError } from '../../errors.ts'
import type { Caller } from '../http/caller.ts'
import { whenAborted } from '../http/when-aborted.ts'

/**
 * A run that is waited for. Undefined once the thread is gone: its call was given up. Rejects if
 * the way to the thread is lost.
 */
export interface NextRun extends Disposable {
  readonly found: Promise<RunName | undefined>
}

/** Begins to wait: a run that is started from now on is found, and one that was started before. */
export async function nextRun(parts: Pick<McpParts, 'threads' | 'runs'>, caller: Caller,
  { threadId, runId }: RunName, left: AbortSignal): Promise<NextRun> {
  const { promise: found, resolve, reject } = Promise.withResolvers<RunName | undefined>()
  found.catch(() => {})
  const see = (seen: string) => {
    if (seen !== runId) resolve({ threadId, runId: seen })
  }
  const stop = await parts.threads.followFrames(caller, threadId, { modes: ['lifecycle'],
    after: null }, {
    events: (batch) => {
      for (const { name, json } of batch) {
        if (name === 'metadata') see((JSON.parse(json) as { run_id: string }).run_id)
      }
    },
    ended: (how) => how === 'over' ? resolve(undefined) : reject(new HeddleError('unavailable')),
  })
  const watch = whenAborted(left, () => reject(new HeddleError('unavailable')))
  // One that began before this was followed.
  const newest = await newestRun(parts.runs, caller, threadId)
  if (newest === undefined) resolve(undefined)
  else see(newest.runId)
  return {
    found,
    [Symbol.dispose]: () => {
      watch[Symbol.dispose]()
      stop()
    },
  }
}
