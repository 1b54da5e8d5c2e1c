/** The forms in which a project may export a graph, and the one graph behind each of them. */

import type { BaseChannel, Pregel, PregelNode } from '@langchain/langgraph'

/** A graph that is ready to run: a compiled StateGraph or an entrypoint. */
export type ServedGraph = Pregel<Record<string, PregelNode>, Record<string, BaseChannel>>

/** Makes a graph, or a promise of one, for each use. */
export type GraphFactory = (config: unknown, runtime: FactoryRuntime) => unknown

/** A factory's second argument, as the ecosystem defines it. */
interface FactoryRuntime {
  readonly accessContext: AccessContext
  /** Null if nothing is going to be executed. */
  readonly executionRuntime: { readonly context: unknown } | null
}

/**
 * threads.create_run  a run is about to begin
 * threads.read        a thread's state is read
 * threads.update      a thread's state is written
 * assistants.read     the graph itself is looked at
 */
export type AccessContext = 'threads.create_run' | 'threads.read' | 'threads.update'
  | 'assistants.read'

/** The export behind a promise. A function is a factory; anything else must be a graph. */
export async function resolveExport(exported: unknown): Promise<ServedGraph | GraphFactory> {
  if (typeof exported === 'function') return exported as GraphFactory
  return toGraph(await exported)
}

/** Compiles what is not compiled yet and unwraps agents. Throws a message for anything else. */
export function toGraph(value: unknown): ServedGraph {
  if (typeof value !== 'object' || value === null) {
    const what = value === null ? 'null' : `of type ${typeof value}`
    throw new TypeError(`it must be a LangGraph.js graph, not ${what}`)
  }
  // An agent looks like a graph itself, but only its inner graph behaves like one.
  if ('graph' in value && isGraph(value.graph)) return value.graph
  if (isGraph(value)) return value
  if ('compile' in value && typeof value.compile === 'function') return toGraph(value.compile())
  throw new TypeError('it must be a LangGraph.js graph, or a function or promise that gives one')
}

function isGraph(value: unknown): value is ServedGraph {
  return typeof value === 'object' && value !== null
    && 'lg_is_pregel' in value && value.lg_is_pregel === true
}
