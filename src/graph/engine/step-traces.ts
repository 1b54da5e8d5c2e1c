/** Traces the steps of runs with the project's own library. Loaded only if that is asked for. */

import { LRUCache } from '../../../cluster/index.ts'
import { memberOf, textAt, valueIn } from '../../json/index.ts'
import type { Execution, ExecutionOutcome } from '../execution.ts'
import { messageOf } from '../project/thrown.ts'
import { isSampled } from './trace-sample.ts'

/** A body with spans on its way out of the worker. */
export interface SpanBody {
  readonly tenant: string
  readonly form: 'multipart' | 'batch'
  readonly contentType: string
  readonly body: Uint8Array<ArrayBuffer>
}

/** A body with recorded calls, which goes the same way: a block of an execution of a run. */
export interface RecordingBody {
  readonly tenant: string
  readonly form: 'recording'
  readonly runId: string
  readonly startedAtMs: number
  readonly no: number
  /** Days for which it is kept. */
  readonly days: number
  /** By which a stateless run is found; missing for all others. */
  readonly label?: string
  readonly body: Uint8Array<ArrayBuffer>
}

/** A body on its way to the store of traces. */
export type TraceBody = SpanBody | RecordingBody

/** Hands a body on and answers with an HTTP status. */
export type SendTraces = (body: TraceBody) => Promise<number>

/** The steps of one run. */
export interface StepTrace {
  /** For the `callbacks` of the graph's call. */
  readonly tracer: object
  /** Makes the root of a run that failed before its graph was called. */
  ended(outcome: ExecutionOutcome): void
}

/** The part of LangSmith's client in the project's library that is used here. */
interface TraceClient {
  readonly fetchImplementation?: unknown
  createRun(run: SpanInput): Promise<void>
  updateRun(id: string, run: SpanInput): Promise<void>
  awaitPendingTraceBatches(): Promise<void>
}

interface TracerLibrary {
  readonly Tracer: new(options: object) => { readonly client: object }
  readonly Client: new(options: object) => TraceClient
  awaitAllCallbacks(): Promise<void>
}

type SpanInput = Readonly<Record<string, unknown>>

/** A run whose steps are traced. */
interface TracedRun {
  readonly runId: string
  /** The run, or an attempt that continues it: that is a trace of its own. */
  readonly rootId: string
  readonly graphId: string
  readonly projectName: string
  readonly startMs: number
  /** False until the tracer has made the root. */
  hasRoot: boolean
}

/** Tenants whose clients are kept. Others flush by themselves. */
const clientsMax = 100
/** Bytes that wait in a client. Later spans are left out until there is room. */
const waitingBytes = 32 * 1024 * 1024
/** Runs of a worker that are known while they are traced. */
const runsMax = 10_000
/** Name that the engine gives to a graph that has no name. */
const unnamed = 'LangGraph'
/** Members of a span in which the id of its root is. */
const places = ['id', 'trace_id', 'parent_run_id', 'dotted_order']
const home = 'http://traces.invalid'
/**
 * Capabilities of the trace server, which the library asks for first. Nothing is compressed, as the
 * bodies stay in this process.
 */
const info = { version: '0.18.0', instance_flags: {}, batch_ingest_config: {
  use_multipart_endpoint: true,
  size_limit: 100,
  size_limit_bytes: 20_971_520,
  scale_up_qsize_trigger: 1_000,
  scale_up_nthreads_limit: 16,
  scale_down_nempty_trigger: 4,
} }

/** Traces of all sampled runs of one worker. Lives in the worker. */
export class StepTraces {
  readonly #library: TracerLibrary
  readonly #ratio: number
  readonly #send: SendTraces
  readonly #env: Pick<StepTracesOptions, 'nowMs' | 'uuid'>
  readonly #clients = new LRUCache<string, TraceClient>({ max: clientsMax })
  readonly #runs = new LRUCache<string, TracedRun>({ max: runsMax })

  private constructor(library: TracerLibrary, { ratio, send, ...env }: StepTracesOptions) {
    this.#library = library
    this.#ratio = ratio
    this.#send = send
    this.#env = env
  }

  /** Finds the library. A text says why the project cannot be traced. */
  static async open(options: StepTracesOptions): Promise<StepTraces | string> {
    try {
      const library = await tracerLibrary()
      const traces = new StepTraces(library, options)
      const client = traces.#clientOf('')
      if (typeof client.fetchImplementation !== 'function') return 'its langsmith is too old'
      return traces
    } catch (error) {
      return `it has no tracer (${messageOf(error)})`
    }
  }

  /** The trace of a run; undefined if it is not sampled. */
  begin({ tenant, graphId, runId, attempt, request }: Execution): StepTrace | undefined {
    if (request.kind !== 'run' || !isSampled(runId, this.#ratio)) return undefined
    const client = this.#clientOf(tenant)
    const project = textAt(memberOf(valueIn(request.config), 'metadata'), 'project')
    const projectName = project || graphId
    const rootId = attempt === 1 ? runId : this.#env.uuid()
    const run: TracedRun = { runId, rootId, graphId, projectName, startMs: this.#env.nowMs(),
      hasRoot: false }
    this.#runs.set(runId, run)
    return {
      // Without replicas, variables of the project do not send the trace elsewhere.
      tracer: new this.#library.Tracer({ client, projectName, replicas: [] }),
      ended: (outcome) => void this.#ended(client, outcome, run),
    }
  }

  /** Resolves when all that was traced before is written, or could not be. */
  async flush(): Promise<void> {
    await this.#library.awaitAllCallbacks()
    await Promise.all(
      [...this.#clients.values()].map((client) => client.awaitPendingTraceBatches()),
    )
  }

  async #ended(client: TraceClient, { status, error }: ExecutionOutcome,
    run: TracedRun): Promise<void> {
    if (status !== 'error' || run.hasRoot) return
    // Callbacks run in the background.
    await this.#library.awaitAllCallbacks()
    if (run.hasRoot) return
    const text = error === null ? status : `${error.error}: ${error.message}`
    await client.createRun(failedRoot(run, text, this.#env.nowMs()))
  }

  #clientOf(tenant: string): TraceClient {
    const known = this.#clients.get(tenant)
    if (known) return known
    const client = new this.#library.Client({
      apiUrl: home,
      // Without a key it would look for a profile on the disk.
      apiKey: 'own',
      autoBatchTracing: true,
      blockOnRootRunFinalization: false,
      tracingMode: 'langsmith',
      tracingSamplingRate: 1,
      omitTracedRuntimeInfo: true,
      maxIngestMemoryBytes: waitingBytes,
      fetchImplementation: (input: string | URL, init?: RequestInit) =>
        this.#fetch(tenant, new URL(input).pathname, init),
    })
    const createRun = client.createRun.bind(client)
    const updateRun = client.updateRun.bind(client)
    client.createRun = (span) => createRun(this.#ownOf(span))
    client.updateRun = (id, span) => {
      const own = this.#ownOf({ ...span, id })
      return updateRun(own['id'] as string, own)
    }
    this.#clients.set(tenant, client)
    return client
  }

  /** A root without a name gets that of the graph. The engine's own events keep theirs. */
  #ownOf(span: SpanInput): SpanInput {
    const run = this.#runs.get((span['trace_id'] ?? span['id']) as string)
    if (!run) return span
    const isRoot = span['id'] === run.runId
    if (isRoot) run.hasRoot = true
    return { ...span, ...isRoot && span['name'] === unnamed && { name: run.graphId },
      ...run.rootId !== run.runId && placedBelow(run, span) }
  }

  async #fetch(tenant: string, path: string, init?: RequestInit): Promise<Response> {
    if (path === '/info') return Response.json(info)
    const form = path === '/runs/multipart' ? 'multipart' : 'batch'
    if (form === 'batch' && path !== '/runs/batch') return new Response(null, { status: 405 })
    const contentType = new Headers(init?.headers).get('content-type') ?? ''
    const body = new Uint8Array(await new Response(init?.body ?? null).arrayBuffer())
    const status = await this.#send({ tenant, form, contentType, body })
    return Response.json({}, { status })
  }
}

/** Sampling of runs, and the ports of the worker that traces them. */
export interface StepTracesOptions {
  /** Share of runs that are traced, from 0 to 1. */
  readonly ratio: number
  readonly send: SendTraces
  readonly nowMs: () => number
  uuid(): string
}

/** The span with the run's id replaced by that of its root, in all places that name it. */
function placedBelow({ runId, rootId }: TracedRun, span: SpanInput): SpanInput {
  return Object.fromEntries(places.flatMap((name) => {
    const value = span[name]
    return typeof value === 'string' ? [[name, value.replaceAll(runId, rootId)]] : []
  }))
}

function failedRoot({ runId, graphId, projectName, startMs }: TracedRun, error: string,
  endMs: number): SpanInput {
  const digits = new Date(startMs).toISOString().replace(/[-:.]/g, '').slice(0, -1)
  return { id: runId, trace_id: runId, dotted_order: `${digits}000Z${runId}`, name: graphId,
    run_type: 'chain', inputs: {}, error, start_time: startMs, end_time: endMs,
    project_name: projectName }
}

/** The client's class is that of the package which the project's core itself uses. */
async function tracerLibrary(): Promise<TracerLibrary> {
  const [{ LangChainTracer }, { awaitAllCallbacks }] = await Promise.all([
    import('@langchain/core/tracers/tracer_langchain'),
    import('@langchain/core/callbacks/promises'),
  ])
  const Tracer = LangChainTracer as unknown as TracerLibrary['Tracer']
  const { client } = new Tracer({})
  return { Tracer, Client: client.constructor as TracerLibrary['Client'], awaitAllCallbacks }
}
