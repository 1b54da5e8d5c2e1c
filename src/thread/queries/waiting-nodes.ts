/** Refuses a run that would continue at a node which no graph has that may execute it. */

import { choiceMessage, chooseRevision, nextNodesOf, requireNext } from '../../graph/index.ts'
import type { DeploymentView, HeldChannels, RevisionChoice,
  WaitingThread } from '../../graph/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { deploymentOf } from '../context/thread-graphs.ts'
import { waitingThread } from '../model/present-revision.ts'
import { continues, forkIdOf } from '../model/run-request.ts'
import type { StartRun } from '../model/thread-client.ts'

/**
 * The run as it may be started: one of a deployment may be bound to an earlier revision. Throws
 * `missing_node`; of a deployment also `not_ready`, or `invalid` for a revision that is not there.
 * For a thread without unfinished runs: later it is found out when the run's turn comes.
 */
export async function withGraph(context: ThreadContext, run: StartRun): Promise<StartRun> {
  if (context.threadLog.state.runs.length > 0) return run
  const view = deploymentOf(context)
  if (view) return await withRevision(context, run, view)
  await requireWaitingNodes(context, run)
  return run
}

async function requireWaitingNodes(context: ThreadContext, run: StartRun): Promise<void> {
  const { ports: { host }, threadLog } = context
  const { row: { head, interruptsJson }, resting } = threadLog.state
  const isWaiting = resting === 'interrupted' || interruptsJson !== '{}'
  const id = forkIdOf(run.kwargs) ?? head?.id
  if (!isWaiting || id === undefined || !continues(run.kwargs)) return
  const { nodes = [], channels } = host.describe(run.graphId) ?? {}
  // The nodes of a graph that is made for each use are not known here.
  if (channels === undefined) return
  const held = await channelsAt(context, id)
  if (held) requireNext(held, nodes)
}

async function withRevision(context: ThreadContext, run: StartRun,
  view: DeploymentView): Promise<StartRun> {
  const { state, state: { row: { head } } } = context.threadLog
  const { threadId } = context
  const { graphId, plan: { revision: requested = null } } = run
  const choose = (waiting: WaitingThread | null) =>
    chosen(chooseRevision({ view, threadId, graphId, requested, waiting }))
  const id = forkIdOf(run.kwargs) ?? head?.id
  if (id === undefined || !continues(run.kwargs)) return (choose(null), run)
  const known = id === head?.id ? waitingThread(state) : null
  if (known) return (choose(known), run)
  const revision = choose(await waitingAt(context, id))
  // When its turn comes, only the place where the thread itself waits is known.
  return revision === choose(null) ? run : { ...run, plan: { ...run.plan, revision } }
}

/** What waits at a checkpoint, for the revision of the last run. */
async function waitingAt(context: ThreadContext, id: string): Promise<WaitingThread> {
  const { ports: { runs }, threadLog: { state: { row } }, tenant, threadId } = context
  const [held, last] = await Promise.all([channelsAt(context, id),
    row.lastRunId === undefined ? undefined : runs.get(tenant, threadId, row.lastRunId)])
  return { nodes: held ? nextNodesOf(held) : [], raisedBy: last?.revision ?? '' }
}

async function channelsAt({ threadLog }: ThreadContext, id: string): Promise<
  HeldChannels | undefined
> {
  await threadLog.loadHead()
  const view = threadLog.recentView(id) ?? await threadLog.settled.view('', id)
  return view && { names: view.names(), valueOf: (name) => JSON.parse(view.json(name)) }
}

const codes = { inactive: 'not_ready', unknown: 'invalid', missing: 'missing_node' } as const

function chosen(choice: RevisionChoice): string {
  if (choice.kind === 'chosen') return choice.revision
  throw new HeddleError(codes[choice.kind], choiceMessage(choice))
}
