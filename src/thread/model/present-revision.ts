/** Nodes at which a thread of a deployment waits, and the revision of its state. Pure. */

import { chooseRevision } from '../../graph/index.ts'
import type { DeploymentView, WaitingThread } from '../../graph/index.ts'
import type { ThreadState } from './thread-state.ts'

/** Nodes at which the thread waits, as its row says. Null if it does not wait. */
export function waitingThread({ row: { waitingAt } }: ThreadState): WaitingThread | null {
  return waitingAt ? { nodes: waitingAt.nodes, raisedBy: waitingAt.revision } : null
}

/**
 * The revision that the state of a thread is seen with: that of the run in progress, or the one
 * that its next run would take. Null if there is none.
 */
export function presentRevision(view: DeploymentView, state: ThreadState): string | null {
  const running = state.runs.find(({ status }) => status === 'running')?.revision
  if (running !== undefined && view.revisions.has(running)) return running
  const { graphId, row: { threadId } } = state
  const choice = chooseRevision({ view, threadId, graphId, requested: null,
    waiting: waitingThread(state) })
  return choice.kind === 'chosen' ? choice.revision : view.active
}
