/** Graphs of a thread, for executions and reads: of its deployment's revisions, or the server's. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { idleHost, isDeployment, noView } from '../../graph/index.ts'
import type { DeploymentView, GraphDescription, GraphHost } from '../../graph/index.ts'
import { presentRevision } from '../model/present-revision.ts'
import { planOf } from '../model/run-request.ts'
import type { ThreadContext } from './thread-context.ts'

/** A graph, and the host that has it. */
export interface HostedGraph {
  readonly graph: GraphDescription
  readonly host: GraphHost
}

type GraphParts = Pick<ThreadContext, 'ports' | 'tenant'>

const nothing = idleHost()

/** The deployment whose thread it is; undefined for the server's own project. */
export function deploymentOf({ ports: { deployed }, tenant }: GraphParts):
  | DeploymentView
  | undefined {
  return deployed && isDeployment(tenant) ? deployed.view(tenant) ?? noView : undefined
}

/** The host of the revision that a run is pinned to; one without graphs if that is gone. */
export function hostOfRun(parts: GraphParts, { revision }: Pick<RunRow, 'revision'>): GraphHost {
  const view = deploymentOf(parts)
  return view ? hostOf(parts, view, revision ?? null) : parts.ports.host
}

/** The revision that the state of a thread is seen with; undefined for the server's project. */
export function presentRevisionOf(context: ThreadContext): string | undefined {
  const view = deploymentOf(context)
  return view && (presentRevision(view, context.threadLog.state) ?? undefined)
}

/** The host that the state of a thread is read and edited with. */
export function presentHost(context: ThreadContext): GraphHost {
  const view = deploymentOf(context)
  if (!view) return context.ports.host
  return hostOf(context, view, presentRevision(view, context.threadLog.state))
}

/** The graph that the thread last ran, if there still is one. */
export function graphOf(context: ThreadContext): HostedGraph | undefined {
  const { graphId } = context.threadLog.state
  return graphId === '' ? undefined : graphIn(presentHost(context), graphId)
}

/**
 * The graph of a run, which need not be that of its thread: a later run may have another. If its
 * revision is gone, the graph that the thread has now.
 */
export function graphOfRun(run: RunRow, context: ThreadContext): HostedGraph | undefined {
  const { graphId } = planOf(run)
  return graphIn(hostOfRun(context, run), graphId)
    ?? (run.revision === undefined ? undefined : graphIn(presentHost(context), graphId))
}

/** A graph of a host. */
export function graphIn(host: GraphHost, graphId: string): HostedGraph | undefined {
  const graph = host.describe(graphId)
  return graph && { graph, host }
}

function hostOf({ ports: { deployed }, tenant }: GraphParts, { revisions }: DeploymentView,
  revision: string | null): GraphHost {
  return revision === null || !revisions.has(revision)
    ? nothing
    : deployed!.hostOf(tenant, revision)
}
