/** Next nodes of a run that has stopped between two supersteps. */

import { decodeRow } from '../../checkpoint/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { waitingPaths } from './waiting-paths.ts'

/**
 * The nodes of the root graph that come next. None if that is not known: the run is within a
 * superstep, as when it has stopped in a subgraph.
 */
export async function nodesBetweenSteps(context: ThreadContext): Promise<readonly string[]> {
  const { threadLog } = context
  await threadLog.durable
  const { head } = threadLog.state.row
  if (!head || !await isLastStep(context, head.id)) return []
  // Without a graph, its subgraphs are not looked into: none of them has begun.
  return await waitingPaths(threadLog, head.id, undefined)
}

/** True if nothing was written for a step since the checkpoint: no subgraph's state, no writes. */
async function isLastStep({ ports: { log }, threadLog }: ThreadContext,
  checkpointId: string): Promise<boolean> {
  const { stepSeq: seq, branch } = threadLog.state.row
  const [entry] = await log.read(branch!, { from: seq, through: seq })
  const last = entry && decodeRow(entry.body)
    .findLast(({ $case }) => $case === 'checkpoint' || $case === 'writes')
  return last?.$case === 'checkpoint' && last.value.id === checkpointId
}
