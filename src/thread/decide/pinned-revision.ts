/** The revision that a run of a deployment is pinned to, also when the pointer moves. Pure. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { choiceMessage, chooseRevision, revisionInstead } from '../../graph/index.ts'
import type { DeploymentView, RevisionChoice } from '../../graph/index.ts'
import { askingRevision, waitingThread } from '../model/present-revision.ts'
import { continues, forkIdOf, kwargsOf, planOf } from '../model/run-request.ts'
import type { RunPlan } from '../model/thread-client.ts'
import type { ThreadState } from '../model/thread-state.ts'
import type { Draft } from './decision.ts'
import type { Ending } from './run-result.ts'

/** Revision with which a run is executed. */
export interface Pin {
  /** Undefined for a run of the server's own project. */
  readonly revision?: string | undefined
  /** True if earlier attempts had another revision, which is not there any more. */
  readonly moved: boolean
  /** Its end instead, if no revision can execute it. */
  readonly ending?: Ending
}

/** A run keeps the revision of its first attempt as long as that can be loaded. */
export function pinOf({ at: { deployment: view }, state }: Draft, run: RunRow): Pin {
  const { revision } = run
  if (!view || (revision !== undefined && view.revisions.has(revision))) {
    return { revision, moved: false }
  }
  const choice = choiceFor(view, state, run)
  if (choice.kind === 'chosen') {
    return { revision: choice.revision, moved: revision !== undefined }
  }
  const error = { error: 'RevisionError', message: choiceMessage(choice) }
  // What an attempt wrote stays; without that, the thread goes on waiting.
  const refused = isUntouched(state, run) && !hasClosed(state) && { refused: true } as const
  return { moved: false, ending: { status: 'error', error, ...refused } }
}

/** The revision that a run would take if none of its attempts counted. */
function choiceFor(view: DeploymentView, state: ThreadState, run: RunRow): RevisionChoice {
  const plan = planOf(run)
  const { head, threadId } = state.row
  const isWaiting = isUntouched(state, run) && continuesAtHead(run, plan, head?.id)
  const waiting = isWaiting ? waitingThread(state) : null
  const named = run.revision === undefined ? plan.revision ?? null : null
  const requested = named ?? (isWaiting ? askingRevision(view, state) : null)
  return chooseRevision({ view, threadId, graphId: plan.graphId, requested, waiting })
}

/** True if the run has not moved the head of its thread. */
function isUntouched({ row: { head } }: ThreadState, run: RunRow): boolean {
  return !run.started || (head?.id ?? '') === run.baseCheckpointId
}

/** True if the run in progress has closed interrupts, or opened others, at the head. */
function hasClosed({ row: { interruptsJson, restBefore } }: ThreadState): boolean {
  return restBefore !== undefined && restBefore.interruptsJson !== interruptsJson
}

function continuesAtHead(run: RunRow, plan: RunPlan, headId: string | undefined): boolean {
  const kwargs = kwargsOf(run, plan)
  return continues(kwargs) && (forkIdOf(kwargs) ?? headId) === headId
}

/**
 * The revision for which a run is to stop at its next superstep; undefined if it continues.
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
 * The revision of a run that has stopped. The new revision must have all next `nodes`. If there are
 * none, they are unknown, and the run keeps its revision.
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
