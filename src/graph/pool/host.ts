/** The graph host: executions and questions, given to a pool of worker threads. */

import { availableParallelism } from 'node:os'

import type { Env } from '../../../cluster/index.ts'
import type { ItemOperation, ItemResult } from '../../items/index.ts'
import { optimiseSoon } from '../../settings/index.ts'
import type { ProjectApp } from '../app/project-app.ts'
import { isSampled } from '../engine/trace-sample.ts'
import type { CheckpointSource, Configurable, Execution, ExecutionListener, GraphDescription,
  GraphHost, GraphSchemas, PauseReason, SnapshotAnswer, StateQuestion,
  StoredTuple } from '../execution.ts'
import { graphEnvironment } from '../project/graph-environment.ts'
import type { CompiledProject } from '../project/project-compiler.ts'
import { RunLogs } from '../logs/run-logs.ts'
import type { LinePage, LoggedLines, LoggedRun } from '../logs/run-logs.ts'
import { SchemaTypes } from '../typescript/schema-types.ts'
import type { ExecutionMarks } from './execution-marks.ts'
import { ExecutionScheduler } from './execution-scheduler.ts'
import type { TakeLines } from './execution-scheduler.ts'
import { GraphQueries } from './graph-queries.ts'
import type { Opened } from './project-generations.ts'
import { TraceIntake } from './trace-intake.ts'
import type { WriteTraces } from './trace-intake.ts'
import { compilerHeapMb, defaultHeapMb, memoryMb } from './worker-heap.ts'
import type { TakePrinted } from './printed-lines.ts'
import type { WorkerLink } from './worker-link.ts'
import { nobodyWaits, readFrom, resultOf } from './worker-mail.ts'
import type { WorkerMail } from './worker-mail.ts'
import { WorkerPool } from './worker-pool.ts'
import type { PoolOptions } from './pool-options.ts'

/** A project and the size of its workers. Sizes that are not given fit the machine. */
export interface GraphHostOptions {
  readonly project: CompiledProject
  /** Threads that execute graphs; by default one for each processor, at least 2. */
  readonly workers?: number
  /** MiB that the graphs of one worker may fill; by default a share of the machine's memory. */
  readonly heapMb?: number | undefined
  /** Variables that graphs see: names, or patterns that end with `*`; by default `*`. */
  readonly variables?: readonly string[]
  /** Files in which workers mark the runs that they execute; missing if they mark none. */
  readonly marks?: ExecutionMarks | undefined
  /** The share of runs whose steps are traced by the project's library; missing for none. */
  readonly tracedRatio?: number | undefined
  /** Set in a graph process, which leaves lines and types to the server. */
  readonly inProcess?: InProcess | undefined
  readonly env: Env
}

/** Duties that the host of a graph process leaves to the server. */
export interface InProcess {
  /** All that graphs see as their environment. */
  readonly environment: NodeJS.ProcessEnv
  /** Takes the lines of runs. */
  readonly lines: TakeLines
  /** Takes what is printed outside of runs. */
  readonly printed: TakePrinted
  /** Called before the file of a graph is imported, and with null after the last one. */
  readonly loading: (graphId: string | null) => void
}

/**
 * Jobs after which a server counts as busy, so that optimising pays. Measured: after 500 it comes
 * too late, because V8 keeps to the count that it has set for a function.
 */
const jobsOfABusyServer = 100

/** Figures of a host's workers. */
export interface HostStats {
  readonly starting: number
  readonly ready: number
  /** Ready workers that execute something. */
  readonly busy: number
  /** Executions that a worker has. */
  readonly underWay: number
  readonly waiting: number
  /** Workers that died or were stuck, since the process started. */
  readonly lost: number
}

/** Long-term memory as graphs use it. */
export interface GraphItems {
  /** The results of operations, in their order. */
  batch(tenant: string, operations: readonly ItemOperation[]): Promise<ItemResult[]>
}

/** A host for its owner, which may also reload, drain and close it. */
export interface RunningGraphHost extends GraphHost {
  /**
   * Serves another project. Rejects if that cannot be loaded; the old one stays then. Of several
   * reloads at once only the last is served: the others are `superseded`.
   */
  reload(project: CompiledProject): Promise<Opened>
  /**
   * Takes no more work and lets runs stop at their next superstep, as `drained`. Resolves when
   * none is left, or at the deadline; what is left then continues until `close`.
   */
  drain(deadline: AbortSignal): Promise<void>
  /** Resolves when the traces and recordings of ended runs are written, or after some seconds. */
  handOver(): Promise<void>
  stats(): HostStats
  /** Gives graphs the URL at which this server answers clients; undefined if it does not. */
  servedAt(url: string | undefined): void
  /** Vectors that the project's embedding makes of texts. Throws as questions about graphs do. */
  embed(texts: readonly string[], kind: 'documents' | 'query'): Promise<unknown>
  /** Gives graphs the items of their tenants. Without it they have none. */
  useItems(items: GraphItems): void
  /** Takes the traced steps of runs. */
  useTraces(write: WriteTraces): void
  /** True if the steps of this run are traced, the run itself among them. */
  tracesSteps(runId: string): boolean
  /** Gives others the login and the app of the project; without it there are none. */
  useApp(app: () => ProjectApp | undefined): void
  /** Ends all workers, whatever runs in them. */
  close(): Promise<void>
}

/** Resolves when the first worker has loaded the project. */
export async function startGraphHost(
  { env, project, variables, ...options }: GraphHostOptions,
): Promise<RunningGraphHost> {
  const { workers = Math.max(2, availableParallelism()) } = options
  const heapMb = options.heapMb ?? defaultHeapMb(memoryMb(), workers)
  const host = new WorkerGraphHost(env, { project, workers, heapMb, marks: options.marks,
    tracedRatio: options.tracedRatio, inProcess: options.inProcess,
    variables: options.inProcess?.environment ?? graphEnvironment(process.env, variables) })
  try {
    await host.open()
  } catch (error) {
    await host.close()
    throw error
  }
  return host
}

class WorkerGraphHost implements RunningGraphHost {
  readonly #env: Env
  readonly #pool: WorkerPool
  readonly #executions: ExecutionScheduler
  readonly #inquiries: GraphQueries
  /** Undefined in a graph process. */
  readonly #types: SchemaTypes | undefined
  readonly #logs = new RunLogs()
  readonly #traces = new TraceIntake()
  #items: GraphItems | undefined
  #app: (() => ProjectApp | undefined) | undefined

  constructor(env: Env,
    { inProcess, ...options }: PoolOptions & Pick<GraphHostOptions, 'inProcess'>) {
    this.#env = env
    let jobs = 0
    const nextJob = () => {
      jobs += 1
      if (jobs === jobsOfABusyServer) optimiseSoon()
      return jobs
    }
    const { printed, loading } = inProcess ?? {}
    this.#pool = new WorkerPool(env, { ...options, printed, loading }, {
      ready: () => {
        this.#executions.pump()
        this.#inquiries.pump()
      },
      mail: (link, mail) => {
        if (mail.type === 'read') return void this.#read(link, mail)
        if (mail.type === 'items') return void this.#remember(link, mail)
        if (mail.type === 'trace' || mail.type === 'flushed') return this.#traces.mail(link, mail)
        this.#executions.mail(link, mail)
        this.#inquiries.mail(link, mail)
      },
      stuck: (link) => this.#executions.stuck(link),
      withdrawn: (link) => this.#inquiries.withdrawn(link),
      outdated: (link) => this.#executions.dismiss(link),
      ended: (link) => {
        this.#executions.ended(link)
        this.#traces.ended(link)
        this.#inquiries.ended(link)
      },
      handOver: (link) => this.#traces.handOver([link], env),
    })
    this.#executions = new ExecutionScheduler(this.#pool, nextJob, inProcess?.lines ?? this.#logs)
    this.#inquiries = new GraphQueries(env, this.#pool, nextJob)
    this.#types = inProcess ? undefined : new SchemaTypes(env, compilerHeapMb(memoryMb()))
  }

  async open(): Promise<Opened> {
    const opened = await this.#pool.open()
    this.#types?.begin(this.#pool.project)
    return opened
  }

  async reload(project: CompiledProject): Promise<Opened> {
    const opened = await this.#pool.reload(project)
    this.#types?.begin(this.#pool.project)
    return opened
  }

  async drain(deadline: AbortSignal): Promise<void> {
    await this.#executions.drain(deadline)
    if (this.#pool.writesTraces) await this.#traces.flush(this.#pool.everyone, deadline)
  }

  async handOver(): Promise<void> {
    if (this.#pool.writesTraces) await this.#traces.handOver(this.#pool.responding, this.#env)
  }

  useTraces(write: WriteTraces): void {
    this.#traces.writeWith(write)
  }

  tracesSteps(runId: string): boolean {
    return isSampled(runId, this.#pool.tracedRatio)
  }

  embed(texts: readonly string[], textKind: 'documents' | 'query'): Promise<unknown> {
    return this.#inquiries.ask({ kind: 'embed', texts, textKind })
  }

  useItems(items: GraphItems): void {
    this.#items = items
  }

  useApp(app: () => ProjectApp | undefined): void {
    this.#app = app
  }

  app(): ProjectApp | undefined {
    return this.#app?.()
  }

  servedAt(url: string | undefined): void {
    this.#pool.servedAt(url)
  }

  stats(): HostStats {
    const links = [...this.#pool.everyone]
    const ready = links.filter(({ state }) => state === 'ready')
    return {
      starting: links.length - ready.length,
      ready: ready.length,
      busy: ready.filter(({ executions }) => executions > 0).length,
      ...this.#executions.counts,
      lost: this.#pool.lost,
    }
  }

  close(): Promise<void> {
    this.#inquiries.close()
    this.#types?.close()
    return this.#pool.close()
  }

  graphs(): readonly GraphDescription[] {
    return this.#pool.graphs
  }

  describe(graphId: string): GraphDescription | undefined {
    return this.#pool.graphs.find((graph) => graph.graphId === graphId)
  }

  execute(execution: Execution, source: CheckpointSource, listener: ExecutionListener): void {
    this.#executions.execute(execution, source, listener)
  }

  pause(executionId: number, why?: PauseReason): void {
    this.#executions.pause(executionId, why)
  }

  abort(executionId: number): void {
    this.#executions.abort(executionId)
  }

  stop(executionId: number): void {
    this.#executions.stop(executionId)
  }

  logs(run: LoggedRun, page: LinePage): LoggedLines {
    return this.#logs.read(run, page)
  }

  async ask(graphId: string, threadId: string, question: StateQuestion, source: CheckpointSource,
    cancelled?: AbortSignal): Promise<SnapshotAnswer[]> {
    const inquiry = { kind: 'state', graphId, threadId, question } as const
    return await this.#inquiries.ask(inquiry, source, cancelled)
  }

  async schemas(graphId: string, configurable?: Configurable,
    waitMs?: number): Promise<GraphSchemas> {
    const inquiry = { kind: 'schemas', graphId, configurable } as const
    const schemas = await this.#inquiries.ask(inquiry)
    return this.#types?.ofGraph(this.#pool.project, { graphId, schemas, waitMs }) ?? schemas
  }

  async subgraphSchemas(graphId: string, namespace: string | null, recurse: boolean,
    configurable?: Configurable): Promise<Readonly<Record<string, GraphSchemas>>> {
    const inquiry = { kind: 'subgraphSchemas', graphId, namespace, recurse, configurable } as const
    const found = await this.#inquiries.ask(inquiry)
    return this.#types?.ofSubgraphs(this.#pool.project, found) ?? found
  }

  drawable(graphId: string, xray: boolean | number, configurable?: Configurable): Promise<unknown> {
    return this.#inquiries.ask({ kind: 'drawable', graphId, xray, configurable })
  }

  /** Does what a run asks of the items of its tenant. */
  async #remember(link: WorkerLink,
    { job, asking, operations }: WorkerMail & { type: 'items' }): Promise<void> {
    const tenant = this.#executions.tenantOf(link, job)
    const result = await resultOf(
      tenant === undefined || this.#items === undefined
        ? Promise.reject(nobodyWaits())
        : this.#items.batch(tenant, operations),
    )
    link.post({ type: 'remembered', asking, result })
  }

  /** Answers a worker's read of a thread's checkpoints. */
  async #read(link: WorkerLink,
    { job, reading, what }: WorkerMail & { type: 'read' }): Promise<void> {
    const source = this.#executions.sourceOf(link, job) ?? this.#inquiries.sourceOf(link, job)
    const readDone = this.#inquiries.noteRead(link, job)
    const result = await resultOf(readFrom(source, what))
    readDone('value' in result ? bytesOf(result.value) : 0)
    link.post({ type: 'stored', reading, result })
  }
}

function bytesOf(tuples: readonly StoredTuple[]): number {
  return tuples.reduce((sum, { fullBytes, deltaBytes }) => sum + fullBytes + deltaBytes, 0)
}
