/** Subgraphs and effects of a run, from its part of the log: the same after a restart. */

import { decodeRow } from '../../checkpoint/index.ts'
import type { RecordOf } from '../../checkpoint/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { EffectFold } from '../model/effect-fold.ts'
import type { RunEffects } from '../model/effect-fold.ts'
import { GraphFold } from '../model/graph-fold.ts'
import type { RunGraphs } from '../model/graph-fold.ts'
import { planOf } from '../model/run-request.ts'
import { readPortions } from './log-portions.ts'

/** The newest rows of a run that are read. */
const rowsMax = 10_000

/** Takes records in their order. */
interface Fold<Answer> {
  take(records: readonly RecordOf[]): void
  readonly answer: Answer
}

/**
 * Folds the records of a run. `open` makes the fold; `isBegun` if the run began before the first
 * record.
 */
async function foldRun<Answer>(context: ThreadContext, run: RunRow,
  open: (isBegun: boolean) => Fold<Answer>, cancelled?: AbortSignal): Promise<Answer> {
  const { threadLog } = context
  await threadLog.durable
  const isUnfinished = run.status === 'running' || run.status === 'pending'
  // Only the row of a run that has ended knows its last row.
  const through = isUnfinished ? threadLog.state.row.seq : run.lastSeq
  const from = Math.max(run.firstSeq, through - rowsMax + 1)
  const fold = open(from > run.firstSeq)
  if (run.started) {
    await readPortions(context, { from, through }, (rows) => {
      for (const { body } of rows) fold.take(decodeRow(body))
    }, cancelled)
  }
  return fold.answer
}

/** Reads the rows of the run for its subgraphs. */
export async function runGraphs(context: ThreadContext, run: RunRow,
  cancelled?: AbortSignal): Promise<RunGraphs> {
  const graphs = await foldRun(context, run, (isBegun) => new GraphFold(run.runId, isBegun),
    cancelled)
  return { graphId: planOf(run).graphId, ...graphs }
}

/** Reads the rows of the run for its effects. */
export function runEffects(context: ThreadContext, run: RunRow,
  cancelled?: AbortSignal): Promise<RunEffects> {
  return foldRun(context, run, (isBegun) => new EffectFold(run.runId, isBegun), cancelled)
}
