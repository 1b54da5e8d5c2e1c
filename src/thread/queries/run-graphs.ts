/** The subgraphs of a run, as its part of the log says: the same after a restart. */

import { decodeRow } from '../../checkpoint/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { GraphFold } from '../model/graph-fold.ts'
import type { RunGraphs } from '../model/graph-fold.ts'
import { planOf } from '../model/run-request.ts'
import { readPortions } from './log-portions.ts'

/** The newest rows of a run that are read. */
const rowsMax = 10_000

/** Reads the rows of the run. */
export async function runGraphs(context: ThreadContext, run: RunRow,
  cancelled?: AbortSignal): Promise<RunGraphs> {
  const { threadLog } = context
  await threadLog.durable
  const isUnfinished = run.status === 'running' || run.status === 'pending'
  // Only the row of a run that has ended knows its last row.
  const through = isUnfinished ? threadLog.state.row.seq : run.lastSeq
  const from = Math.max(run.firstSeq, through - rowsMax + 1)
  const fold = new GraphFold(run.runId, from > run.firstSeq)
  if (run.started) {
    await readPortions(context, { from, through }, (rows) => {
      for (const { body } of rows) fold.take(decodeRow(body))
    }, cancelled)
  }
  return { graphId: planOf(run).graphId, ...fold.answer }
}
