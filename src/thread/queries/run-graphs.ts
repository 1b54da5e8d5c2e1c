/** Subgraphs of a run, and its effects, as its part of the log says: the same after a restart. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { EffectFold } from '../model/effect-fold.ts'
import type { RunEffects } from '../model/effect-fold.ts'
import { GraphFold } from '../model/graph-fold.ts'
import type { RunGraphs } from '../model/graph-fold.ts'
import { planOf } from '../model/run-request.ts'
import { foldRun } from './run-records.ts'

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
