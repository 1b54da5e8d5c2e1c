/** The forms in which a project may export a graph, and the one graph behind each of them. */

import type { BaseChannel, Pregel, PregelNode } from '@langchain/langgraph'

type EngineGraph = Pregel<Record<string, PregelNode>, Record<string, BaseChannel>>

type Replaced = 'stream' | 'streamEvents' | 'getSubgraphsAsync' | 'streamTransformers'
  | '_streamIterator'

/**
 * A graph that is ready to run: a compiled StateGraph or an entrypoint. The engine's types bind
 * these methods to the state of one graph, and here a graph may be any.
 */
export interface ServedGraph extends Omit<EngineGraph, Replaced> {
  stream(input: unknown, options: object): Promise<AsyncIterable<unknown>>
  streamEvents(input: unknown, options: object): AsyncIterable<unknown>
  getSubgraphsAsync(namespace?: string,
    recurse?: boolean): AsyncIterable<readonly [string, ServedGraph]>
  /** Private to the engine: only its own class is sure to have it. */
  _streamIterator?(input: unknown, options: object): AsyncIterable<unknown>
  /** The StateGraph that it was compiled from; an entrypoint has none. */
  readonly builder?: unknown
  /** Engines before 1.3 have none. */
  readonly streamTransformers?: unknown
}

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
  if (isFactory(exported)) return exported
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

function isFactory(value: unknown): value is GraphFactory {
  return typeof value === 'function'
}

function isGraph(value: unknown): value is ServedGraph {
  return typeof value === 'object' && value !== null
    && 'lg_is_pregel' in value && value.lg_is_pregel === true
}
