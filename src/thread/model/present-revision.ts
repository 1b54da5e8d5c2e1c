/** Nodes at which a thread of a deployment waits, and the revision of its state. Pure. */

import { chooseRevision } from '../../graph/index.ts'
import type { DeploymentView, WaitingThread } from '../../graph/index.ts'
import type { ThreadState } from './thread-state.ts'

/** Nodes at which the thread waits. Null if it does not wait, or if only the log has the nodes. */
export function waitingThread({ row: { waitingAt } }: ThreadState): WaitingThread | null {
  if (!waitingAt || waitingAt.nodes.length === 0) return null
  return { nodes: waitingAt.nodes, raisedBy: waitingAt.revision }
}

/** The revision that raised the interrupts, if the row lacks their nodes. Otherwise null. */
export function askingRevision({ revisions }: DeploymentView, { row: { waitingAt } }: ThreadState):
  | string
  | null {
  if (waitingAt?.nodes.length !== 0 || !revisions.has(waitingAt.revision)) return null
  return waitingAt.revision
}

/**
 * The revision that the state of a thread is seen with: that of the run in progress, or the one
 * that its next run would take. Null if there is none.
 */
export function presentRevision(view: DeploymentView, state: ThreadState): string | null {
  const running = state.runs.find(({ status }) => status === 'running')?.revision
  if (running !== undefined && view.revisions.has(running)) return running
  const { graphId, row: { threadId } } = state
  const choice = chooseRevision({ view, threadId, graphId, requested: askingRevision(view, state),
    waiting: waitingThread(state) })
  return choice.kind === 'chosen' ? choice.revision : view.active
}
