/** The same run on a copy of its thread, as that was when the run began. */

import { createRun } from '../../api/runs.ts'
import type { Run } from '../../api/runs.ts'
import { historyOf } from '../../api/states.ts'
import { copyThread, createThread } from '../../api/threads.ts'
import { repetitionOf } from './run-words.ts'

/** Steps that are read at once. */
const pageLength = 500

/**
 * Starts the run on a new thread: on a copy that ends where the run began, or on an empty thread if
 * it began there. Resolves with the id of that thread. Throws if the step before the run is gone.
 */
export async function runInCopy(threadId: string, run: Run): Promise<string> {
  const base = await baseOf(threadId, run.run_id)
  const { thread_id: copy } = base === null
    ? await createThread()
    : await copyThread(threadId, base)
  await createRun(copy, repetitionOf(run))
  return copy
}

/** The checkpoint that a run began with; null for none. */
async function baseOf(threadId: string, runId: string): Promise<string | null> {
  let first: { readonly id: string; readonly parent: string | null } | undefined
  for (;;) {
    const page = await historyOf(threadId, { limit: pageLength, metadata: { run_id: runId },
      select: ['checkpoint_id', 'parent_checkpoint_id'],
      ...first && { before: { configurable: { checkpoint_id: first.id } } } })
    const { checkpoint_id: id, parent_checkpoint_id: parent = null } = page.at(-1) ?? {}
    if (id != null) first = { id, parent }
    if (page.length < pageLength) break
  }
  if (first === undefined) throw new Error('The thread no longer has what this run began with.')
  return first.parent
}
