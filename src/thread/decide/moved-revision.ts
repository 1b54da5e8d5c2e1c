/** Revision with which a run continues that was under way when the pointer moved. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { chooseRevision, revisionInstead } from '../../graph/index.ts'
import { planOf } from '../model/run-request.ts'
import type { Draft } from './decision.ts'
import { choiceFor, isUntouched } from './pinned-revision.ts'

/**
 * The revision for which a run is to stop at its next superstep; undefined if it goes on as it is.
 * A revision that its caller named is kept.
 */
export function revisionFor({ at: { deployment: view }, state }: Draft, run: RunRow):
  | string
  | undefined {
  const { graphId, revision: requested } = planOf(run)
  const { revision } = run
  if (!view || revision === undefined || requested !== undefined) return undefined
  return revisionInstead(view, { threadId: state.row.threadId, graphId, revision })
}

/**
 * The revision of a run that has stopped. `nodes` would run next: the new revision must have all
 * of them. Without any, nothing is known, and the run keeps its own.
 */
export function movedRevision({ at: { deployment: view }, state }: Draft, run: RunRow,
  nodes: readonly string[]): string | undefined {
  const { revision } = run
  if (!view || revision === undefined) return revision
  const choice = isUntouched(state, run)
    ? choiceFor(view, state, run)
    : nodes.length === 0
    ? undefined
    : chooseRevision({ view, threadId: state.row.threadId, graphId: planOf(run).graphId,
      requested: null, waiting: { nodes, raisedBy: revision } })
  return choice?.kind === 'chosen' ? choice.revision : revision
}
