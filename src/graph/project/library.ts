/** The graphs of a project, loaded into this worker thread. */

import type { BaseChannel } from '@langchain/langgraph'

import { HeddleError } from '../../errors.ts'
import { memberOf } from '../../json/index.ts'
import type { Configurable, GraphDescription, GraphSchemas } from '../execution.ts'
import { placeIn } from './code-place.ts'
import { ProjectEmbedding } from './embedding.ts'
import { engineFault, tooOld } from '../engine-version.ts'
import { resolveExport, toGraph } from './graph-export.ts'
import type { AccessContext, GraphFactory, ServedGraph } from './graph-export.ts'
import { writableChannels } from './graph-names.ts'
import { graphSchemas } from './graph-schemas.ts'
import { serveModules } from './module-loader.ts'
import type { CompiledProject, GraphEntry } from './project-compiler.ts'
import { nodeNames, subgraphNames } from './subgraphs.ts'
import type { SubgraphNames } from './subgraphs.ts'
import { messageOf } from './thrown.ts'

type Langgraph = typeof import('@langchain/langgraph')
type Messages = typeof import('@langchain/core/messages')

/** Purpose for which a graph is fetched. Only factories use it. */
export interface GraphUse {
  readonly access: AccessContext
  /** A RunnableConfig. */
  readonly config?: Readonly<Record<string, unknown>>
  /** The context of the run, if `access` is threads.create_run. */
  readonly context?: unknown
}

/** Waits for a graph that is being built: null if building fails, undefined if it gives up. */
type InTime = (graphId: string,
  made: Promise<ServedGraph | null>) => Promise<ServedGraph | null | undefined>

interface LoadedGraph {
  readonly entry: GraphEntry
  /** A `graph_failed` error stands for a broken graph, so that the others can be served. */
  readonly content: ServedGraph | GraphFactory | HeddleError
}

const inspection: GraphUse = { access: 'assistants.read' }

/** The loaded graphs of one worker thread, and the modules that they run on. */
export class GraphLibrary {
  /** The modules that the graphs run on. Commands, Sends and messages must be made with these. */
  readonly langgraph: Langgraph
  readonly messages: Messages
  /** The folder of the project. */
  readonly root: string
  readonly embedding: ProjectEmbedding
  readonly #graphs: ReadonlyMap<string, LoadedGraph>
  readonly #schemas = new WeakMap<ServedGraph, Promise<GraphSchemas>>()

  private constructor(
    { langgraph, messages, root, embedding }: Pick<GraphLibrary,
      'langgraph' | 'messages' | 'root' | 'embedding'>,
    graphs: readonly LoadedGraph[],
  ) {
    this.langgraph = langgraph
    this.messages = messages
    this.root = root
    this.embedding = embedding
    this.#graphs = new Map(graphs.map((graph) => [graph.entry.graphId, graph]))
  }

  /**
   * Loads a project. Call once in each thread, before anything imports @langchain/*. `loads` is
   * called for each graph before its file is imported. Throws `graph_failed` if the project's copy
   * of the engine is too old: its graphs would fail in ways that blame their files.
   */
  static async open(project: CompiledProject,
    loads: (graphId: string) => void = () => {}): Promise<GraphLibrary> {
    serveModules(project)
    for (const [name, value] of Object.entries(project.env)) process.env[name] ??= value
    const fault = engineFault(await engineVersion())
    if (fault !== undefined) throw new HeddleError('graph_failed', fault)
    const { langgraph, messages } = await engineParts()
    const graphs: LoadedGraph[] = []
    // Graphs are imported one by one: a require() fails on a module that another graph is
    // importing.
    for (const entry of project.graphs) {
      loads(entry.graphId)
      graphs.push(await load(project.root, entry))
    }
    const { root, embedding } = project
    return new GraphLibrary({ langgraph, messages, root,
      embedding: new ProjectEmbedding(root, embedding) }, graphs)
  }

  /** Throws `graph_failed` if the engine lacks what an old one does, whatever its version says. */
  async requireServable(): Promise<void> {
    if ('bulkUpdateState' in this.langgraph.CompiledStateGraph.prototype) return
    throw new HeddleError('graph_failed', tooOld(await engineVersion() ?? 'of unknown version'))
  }

  /** The graphs that cannot be used, and why. */
  get failures(): readonly { readonly graphId: string; readonly error: HeddleError }[] {
    return [...this.#graphs.values()].flatMap(({ entry: { graphId }, content }) =>
      content instanceof HeddleError ? [{ graphId, error: content }] : []
    )
  }

  /**
   * A compiled graph, shared by all uses. Never change it: copy it, or pass what differs in the
   * config. A factory makes a new one each time. Throws `not_found` or `graph_failed`.
   */
  async get(graphId: string, use: GraphUse): Promise<ServedGraph> {
    const { content } = this.#loaded(graphId)
    if (content instanceof HeddleError) throw content
    if (typeof content !== 'function') return content
    const executes = use.access === 'threads.create_run'
    const runtime = {
      accessContext: use.access,
      executionRuntime: executes ? { context: use.context } : null,
    }
    try {
      return toGraph(await content(use.config ?? { configurable: {} }, runtime))
    } catch (error) {
      throw graphFailed(`The factory of graph "${graphId}" failed`, error)
    }
  }

  /**
   * Descriptions in the order of langgraph.json. A graph that cannot be inspected, or that `inTime`
   * gives up on, has no nodes.
   */
  describe(inTime: InTime = (_, made) => made): Promise<GraphDescription[]> {
    return Promise.all([...this.#graphs.values()].map(async ({ entry, content }) => {
      const { graphId, description } = entry
      const made = this.get(graphId, inspection).catch(() => null)
      const graph = await inTime(graphId, made)
      return { graphId, description, ...graph ? shapeOf(graph) : unknownShape,
        ...graph && graph === content && await staticParts(graph),
        ...content instanceof HeddleError && { failed: true, failure: content.message } }
    }))
  }

  schemas(graphId: string, configurable?: Configurable): Promise<GraphSchemas> {
    return this.#inspect(graphId, configurable, (graph) => this.#schemasOf(graph))
  }

  /**
   * Schemas by namespace (`outer|inner`): of the named one; for null of the direct ones, or of all
   * with `recurse`.
   */
  subgraphSchemas(graphId: string, namespace: string | null, recurse: boolean,
    configurable?: Configurable): Promise<Record<string, GraphSchemas>> {
    return this.#inspect(graphId, configurable, async (graph) => {
      const found: [string, GraphSchemas][] = []
      for await (const [name, subgraph] of graph.getSubgraphsAsync(undefined, true)) {
        const wanted = namespace === null ? recurse || !name.includes('|') : name === namespace
        if (wanted) found.push([name, await this.#schemasOf(subgraph)])
      }
      return Object.fromEntries(found)
    })
  }

  /** `{nodes, edges}`. Subgraphs are drawn `xray` levels deep, or all of them if it is true. */
  drawable(graphId: string, xray: boolean | number, configurable?: Configurable): Promise<unknown> {
    const options: DrawOptions = { xray }
    return this.#inspect(graphId, configurable,
      async (graph) => (await graph.getGraphAsync(options)).toJSON())
  }

  /**
   * Looks at a graph. Any failure is `graph_failed`, which clients do not retry, as the result
   * would be the same.
   */
  async #inspect<Answer>(graphId: string, configurable: Configurable = {},
    look: (graph: ServedGraph) => Promise<Answer>): Promise<Answer> {
    const graph = await this.get(graphId, { ...inspection, config: { configurable } })
    try {
      // Drops what JSON lacks: a function in a default value could not be posted.
      return JSON.parse(JSON.stringify(await look(graph))) as Answer
    } catch (error) {
      throw graphFailed(`Graph "${graphId}" cannot be shown`, error)
    }
  }

  #loaded(graphId: string): LoadedGraph {
    const loaded = this.#graphs.get(graphId)
    if (loaded !== undefined) return loaded
    const known = [...this.#graphs.keys()].join(', ')
    throw new HeddleError('not_found', `There is no graph "${graphId}"; there is ${known}.`)
  }

  #schemasOf(graph: ServedGraph): Promise<GraphSchemas> {
    const schemas = this.#schemas.get(graph) ?? graphSchemas(graph)
    this.#schemas.set(graph, schemas)
    return schemas
  }
}

/** Version of the project's engine; undefined if it does not state one. */
export async function engineVersion(): Promise<string | undefined> {
  try {
    const about = await import('@langchain/langgraph/package.json', { with: { type: 'json' } })
    return about.default.version
  } catch {
    return undefined
  }
}

async function engineParts(): Promise<Pick<GraphLibrary, 'langgraph' | 'messages'>> {
  try {
    const langgraph = await import('@langchain/langgraph')
    return { langgraph, messages: await import('@langchain/core/messages') }
  } catch (error) {
    throw graphFailed('@langchain/langgraph cannot be loaded from the project; ' +
      '`npm ls @langchain/core` shows whether its packages fit together', error)
  }
}

/** The engine reads `xray` here, but its type omits it. */
type DrawOptions = Parameters<ServedGraph['getGraphAsync']>[0] & { readonly xray: boolean | number }

interface GraphShape extends Pick<GraphDescription, 'plain' | 'nodes'> {
  readonly stateChannels: NonNullable<GraphDescription['stateChannels']>
}

/** For a graph that could not be built. Stored values are then shown as they are. */
const unknownShape = { stateChannels: null, plain: true, nodes: [] }

/** The parts of a graph that are needed to read its state. */
export function shapeOf(graph: ServedGraph): GraphShape {
  const { streamChannelsAsIs: stateChannels, streamChannelsList, channels, nodes } = graph
  return {
    stateChannels,
    plain: streamChannelsList.every((name) => isPlain(channels[name])),
    nodes: nodeNames({ nodes }),
  }
}

/** The parts of a description that are the same at each use of the graph. */
async function staticParts(graph: ServedGraph): Promise<
  SubgraphNames & Pick<GraphDescription, 'channels'>
> {
  return { channels: writableChannels(graph), ...await subgraphNames(graph) }
}

/** True if a channel's value is what a checkpoint stores of it. */
function isPlain(channel: BaseChannel | undefined): boolean {
  const kind = channel?.lc_graph_name ?? ''
  if (kind !== 'UntrackedValue') return plainChannels.includes(kind)
  // An untracked value is never in a checkpoint. Readers see nothing, unless it has an initial
  // value.
  return memberOf(channel, 'initialValueFactory') === undefined
}

/** Channels whose checkpointed form is their value. */
const plainChannels = ['LastValue', 'BinaryOperatorAggregate', 'AnyValue']

async function load(root: string, entry: GraphEntry): Promise<LoadedGraph> {
  const { graphId, url, exportName, failure } = entry
  const complaint = `Graph "${graphId}" could not be loaded`
  if (failure !== null) return { entry, content: graphFailed(complaint, new Error(failure)) }
  try {
    const module = await import(url) as Record<string, unknown>
    if (!(exportName in module)) {
      const others = Object.keys(module).join(', ') || 'nothing'
      throw new Error(`its file does not export "${exportName}"; it exports ${others}`)
    }
    return { entry, content: await resolveExport(module[exportName]) }
  } catch (error) {
    const place = placeIn(root, error)
    return { entry, content: graphFailed(place ? `${complaint} (${place})` : complaint, error) }
  }
}

function graphFailed(complaint: string, cause: unknown): HeddleError {
  return new HeddleError('graph_failed', `${complaint}: ${messageOf(cause)}`, {}, { cause })
}
