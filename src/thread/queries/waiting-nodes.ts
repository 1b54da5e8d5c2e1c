/** Refuses a run that would continue at a node which no graph has that may execute it. */

import { choiceMessage, chooseRevision, requirePaths } from '../../graph/index.ts'
import type { DeploymentView, GraphDescription, RevisionChoice,
  WaitingThread } from '../../graph/index.ts'
import { HeddleError } from '../../errors.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { deploymentOf } from '../context/thread-graphs.ts'
import { waitingThread } from '../model/present-revision.ts'
import { continues, forkIdOf } from '../model/run-request.ts'
import type { StartRun } from '../model/thread-client.ts'
import { isBusy } from '../model/waiting-message.ts'
import { waitingPaths } from './waiting-paths.ts'

/**
 * The run as it may be started: one of a deployment may be bound to an earlier revision. Throws
 * `missing_node`; of a deployment also `not_ready`, or `invalid` for a revision that is not there.
 * For a thread without unfinished runs: later it is found out when the run's turn comes.
 */
export async function withGraph(context: ThreadContext, run: StartRun): Promise<StartRun> {
  if (isBusy(context.threadLog.state)) return run
  const view = deploymentOf(context)
  if (view) return await withRevision(context, run, view)
  await requireWaitingNodes(context, run)
  return run
}

async function requireWaitingNodes(context: ThreadContext, run: StartRun): Promise<void> {
  const { ports: { host }, threadLog } = context
  const id = forkIdOf(run.kwargs) ?? threadLog.state.row.head?.id
  if (id === undefined || !continues(run.kwargs)) return
  const graph = host.describe(run.graphId)
  // The nodes of a graph that is made for each use are not known here.
  if (graph?.channels === undefined) return
  requirePaths(graph, await pathsAt(context, run, id, graph))
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
  const usual = choose(null)
  const revision = choose(await waitingAt(context, { run, id, view, usual }))
  // When its turn comes, only the place where the thread itself waits is known.
  return revision === usual ? run : { ...run, plan: { ...run.plan, revision } }
}

interface Fork {
  readonly run: StartRun
  readonly id: string
  readonly view: DeploymentView
  /** The revision that the run takes if nothing waits there. */
  readonly usual: string
}

/** Nodes that wait at a checkpoint, by the graphs of the last run's revision. */
async function waitingAt(context: ThreadContext,
  { run, id, view: { revisions }, usual }: Fork): Promise<WaitingThread> {
  const { ports: { runs }, threadLog: { state: { row } }, tenant, threadId } = context
  const { lastRunId } = row
  const last = lastRunId === undefined ? undefined : await runs.get(tenant, threadId, lastRunId)
  const asking = id === row.head?.id ? row.waitingAt?.revision : undefined
  const raisedBy = asking ?? last?.revision ?? ''
  const graphs = revisions.get(raisedBy) ?? revisions.get(usual)
  const graph = graphs?.find(({ graphId }) => graphId === run.graphId)
  return { nodes: await pathsAt(context, run, id, graph), raisedBy }
}

/** Without an answer, a run that goes back to an earlier checkpoint begins its subgraphs anew. */
async function pathsAt({ threadLog }: ThreadContext, { kwargs }: StartRun, id: string,
  graph: GraphDescription | undefined): Promise<readonly string[]> {
  const isUnderWay = kwargs.command != null || id === threadLog.state.row.head?.id
  return await waitingPaths(threadLog, id, isUnderWay ? graph : undefined)
}

const codes = { inactive: 'not_ready', unknown: 'invalid', missing: 'missing_node' } as const

function chosen(choice: RevisionChoice): string {
  if (choice.kind === 'chosen') return choice.revision
  throw new HeddleError(codes[choice.kind], choiceMessage(choice))
}
