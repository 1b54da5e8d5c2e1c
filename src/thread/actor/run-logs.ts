/** Reads what the code of a run wrote to its console. */

import type { LinePage, LoggedLines } from '../../graph/index.ts'
import { hostOfRun } from '../context/thread-graphs.ts'
import { runRow } from './run-turns.ts'
import type { ThreadParts } from './thread-parts.ts'

/** Throws `not_found` if the thread does not have the run. */
export async function runLogs(parts: ThreadParts, runId: string,
  page: LinePage): Promise<LoggedLines> {
  const run = await runRow(parts, runId)
  const { tenant, threadId } = parts.context
  return hostOfRun(parts.context, run).logs({ tenant, threadId, runId }, page)
}
