/** The graph host with traces: each execution is a span of the request that asked for it. */

import type { TraceSpan, Tracing } from '../../cluster/index.ts'
import type { DeployedGraphs, Execution, ExecutionListener, GraphHost } from '../graph/index.ts'

/** Wraps a host. Each execution becomes a span, which ends with its outcome. */
export function tracedHost(host: GraphHost, tracing: Tracing): GraphHost {
  const spans = new Map<number, TraceSpan>()
  const end = (id: number, outcome: string, failure?: string) => {
    spans.get(id)?.end({ 'heddle.outcome': outcome }, failure)
    spans.delete(id)
  }
  const listening = (id: number, listener: ExecutionListener): ExecutionListener => ({
    steps: (batch) => listener.steps(batch),
    ended: (outcome) => {
      end(id, outcome.status, outcome.error?.error)
      listener.ended(outcome)
    },
    lost: (reason) => {
      end(id, 'lost', reason)
      listener.lost(reason)
    },
  })
  return {
    graphs: () => host.graphs(),
    describe: (graphId) => host.describe(graphId),
    execute: (execution, source, listener) => {
      const { id } = execution
      const span = tracing.begin(startOf(execution))
      spans.set(id, span)
      span.within(() =>
        host.execute({ ...execution, trace: span.trace }, source, listening(id, listener))
      )
    },
    pause: (id) => host.pause(id),
    abort: (id) => {
      end(id, 'aborted')
      host.abort(id)
    },
    logs: (...question) => host.logs(...question),
    ask: (...question) => host.ask(...question),
    schemas: (...question) => host.schemas(...question),
    subgraphSchemas: (...question) => host.subgraphSchemas(...question),
    drawable: (...question) => host.drawable(...question),
  }
}

/** The graphs of deployments with traces; as they are if there is no collector. */
export function tracedGraphs(deployed: DeployedGraphs,
  tracing: Tracing | undefined): DeployedGraphs {
  if (tracing === undefined) return deployed
  // A span ends where it began: by the same wrapper.
  const traced = new WeakMap<GraphHost, GraphHost>()
  return {
    open: (namespace) => deployed.open(namespace),
    view: (namespace) => deployed.view(namespace),
    ended: (...end) => deployed.ended(...end),
    onChange: (...watch) => deployed.onChange(...watch),
    hostOf: (namespace, revision) => {
      const host = deployed.hostOf(namespace, revision)
      const known = traced.get(host) ?? tracedHost(host, tracing)
      traced.set(host, known)
      return known
    },
  }
}

function startOf(
  { request: { kind }, trace, graphId, tenant, threadId, runId, attempt }: Execution,
) {
  return {
    name: `${kind} ${graphId}`,
    // A run may begin long after it was asked for, and in another member.
    ...kind === 'run' && { parent: trace ?? '' },
    details: {
      'heddle.tenant': tenant,
      'heddle.thread_id': threadId,
      'heddle.graph_id': graphId,
      ...runId !== '' && { 'heddle.run_id': runId, 'heddle.attempt': attempt },
    },
  }
}
