/** Graph hosts whose executions are noted when they begin and when they end. */

import type { DeployedGraphs, Execution, ExecutionListener, GraphHost } from '../graph/index.ts'

/** Note about an execution that begins. */
export interface Begun {
  /** The execution for the host, which may have more members than the given one. */
  readonly execution: Execution
  /** Gives the execution to the host. */
  readonly within: (work: () => void) => void
  /** Called when the execution ends, perhaps more than once. */
  end(outcome: string, failure?: string): void
}

/** Notes an execution before it is given to a host. */
export type Begin = (execution: Execution) => Begun

/** Wraps a host, so that its executions are noted. */
export function watchedHost(host: GraphHost, begin: Begin): GraphHost {
  const ends = new Map<number, Begun['end']>()
  const end = (id: number, outcome: string, failure?: string) => {
    ends.get(id)?.(outcome, failure)
    ends.delete(id)
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
    execute: (given, source, listener) => {
      const { id } = given
      const begun = begin(given)
      ends.set(id, (...outcome) => begun.end(...outcome))
      begun.within(() => host.execute(begun.execution, source, listening(id, listener)))
    },
    pause: (...pause) => host.pause(...pause),
    abort: (id) => {
      end(id, 'aborted')
      host.abort(id)
    },
    stop: (id) => host.stop(id),
    logs: (...question) => host.logs(...question),
    ask: (...question) => host.ask(...question),
    schemas: (...question) => host.schemas(...question),
    subgraphSchemas: (...question) => host.subgraphSchemas(...question),
    drawable: (...question) => host.drawable(...question),
    app: () => host.app?.(),
    ...host.openApp && { openApp: (cancelled) => host.openApp!(cancelled) },
  }
}

/** Wraps the graphs of deployments. */
export function watchedGraphs(deployed: DeployedGraphs, begin: Begin): DeployedGraphs {
  // An execution ends where it began: by the same wrapper.
  const wrapped = new WeakMap<GraphHost, GraphHost>()
  return {
    open: (namespace) => deployed.open(namespace),
    view: (namespace) => deployed.view(namespace),
    ended: (...end) => deployed.ended(...end),
    onChange: (...watch) => deployed.onChange(...watch),
    hostOf: (namespace, revision) => {
      const host = deployed.hostOf(namespace, revision)
      const known = wrapped.get(host) ?? watchedHost(host, begin)
      wrapped.set(host, known)
      return known
    },
  }
}
