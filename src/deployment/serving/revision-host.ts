/** The graph host of one revision: executions wait until it is loaded. */

import { Backoff } from '../../../cluster/index.ts'
import type { Env, FairSemaphore } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import type { CheckpointSource, Execution, ExecutionListener, ExecutionOutcome, GraphDescription,
  GraphHost, GraphProcess, GraphSchemas, LinePage, LoggedLines, LoggedRun, OpenedApp, PauseReason,
  ProjectApp, RunLogs, SnapshotAnswer, StateQuestion } from '../../graph/index.ts'
import { abortable } from './abortable.ts'
import type { ProcessLease } from './revision-process.ts'
import type { RevisionProcesses } from './revision-processes.ts'

/** Parts of a revision's host. */
export interface RevisionHostParts {
  readonly revision: string
  readonly env: Env
  readonly processes: RevisionProcesses
  /** The graphs as the revision's record has them; undefined if it is not known. */
  readonly graphs: () => readonly GraphDescription[] | undefined
  /** Bound on the runs of the deployment that execute at once, in turns by tenant. */
  readonly turns: Pick<FairSemaphore, 'enter'>
  /** Lines of runs, which outlive processes. */
  readonly runLogs: RunLogs
}

interface Job {
  readonly execution: Execution
  readonly source: CheckpointSource
  readonly listener: ExecutionListener
  /** Aborts when the job is dropped while it waits. */
  readonly stop: AbortController
  /** Undefined while it waits. */
  lease: ProcessLease | undefined
  leaveTurn: () => void
}

const drained: ExecutionOutcome = { status: 'drained', waiting: false, interrupts: '{}',
  error: null }

/** Pauses between tries to load the revision for waiting work. */
const pauses = { firstMs: 250, longestMs: 5_000 }

const noGraphs: readonly GraphDescription[] = []

/** A graph host that needs no process until something is executed or asked. */
export class RevisionHost implements GraphHost {
  readonly #parts: RevisionHostParts
  readonly #jobs = new Map<number, Job>()
  #draining = false

  constructor(parts: RevisionHostParts) {
    this.#parts = parts
  }

  /** True while nothing is executed, and nothing waits for that. */
  get isIdle(): boolean {
    return this.#jobs.size === 0
  }

  graphs(): readonly GraphDescription[] {
    return this.#parts.graphs() ?? this.#newest?.graphs() ?? noGraphs
  }

  describe(graphId: string): GraphDescription | undefined {
    return this.graphs().find((graph) => graph.graphId === graphId)
  }

  execute(execution: Execution, source: CheckpointSource, listener: ExecutionListener): void {
    if (this.#draining) return listener.ended(drained)
    const job: Job = { execution, source, listener, stop: new AbortController(), lease: undefined,
      leaveTurn: () => {} }
    this.#jobs.set(execution.id, job)
    void this.#begin(job)
  }

  pause(executionId: number, why?: PauseReason): void {
    const job = this.#jobs.get(executionId)
    if (job?.lease) job.lease.graph.pause(executionId, why)
    else if (job && why === 'messages') job.execution.takesMessages = true
    else if (job) this.#endWaiting(job)
  }

  abort(executionId: number): void {
    const job = this.#jobs.get(executionId)
    if (!job) return
    job.lease?.graph.abort(executionId)
    this.#remove(job)
  }

  stop(executionId: number): void {
    const job = this.#jobs.get(executionId)
    if (!job) return
    if (job.lease) return job.lease.graph.stop(executionId)
    // The job needs no turn, because it executes no node.
    const { execution, source, listener } = job
    this.#remove(job)
    this.execute({ ...execution, stops: true }, source, listener)
  }

  logs(run: LoggedRun, page: LinePage): LoggedLines {
    return this.#parts.runLogs.read(run, page)
  }

  ask(graphId: string, threadId: string, question: StateQuestion, source: CheckpointSource,
    cancelled?: AbortSignal): Promise<SnapshotAnswer[]> {
    return this.#asked((graph) => graph.ask(graphId, threadId, question, source, cancelled),
      cancelled)
  }

  schemas(...question: Parameters<GraphHost['schemas']>): Promise<GraphSchemas> {
    return this.#asked((graph) => graph.schemas(...question))
  }

  subgraphSchemas(
    ...question: Parameters<GraphHost['subgraphSchemas']>
  ): Promise<Readonly<Record<string, GraphSchemas>>> {
    return this.#asked((graph) => graph.subgraphSchemas(...question))
  }

  drawable(...question: Parameters<GraphHost['drawable']>): Promise<unknown> {
    return this.#asked((graph) => graph.drawable(...question))
  }

  app(): ProjectApp | undefined {
    return this.#newest?.app?.()
  }

  async openApp(cancelled?: AbortSignal): Promise<OpenedApp> {
    const { graph, leave } = await this.#parts.processes.take('asking', cancelled)
    return { app: graph.app?.(), leave }
  }

  /** Takes no more work, and lets runs stop at their next superstep. */
  async drain(deadline: AbortSignal): Promise<void> {
    this.#draining = true
    for (const job of [...this.#jobs.values()]) if (!job.lease) this.#endWaiting(job)
    const graphs = this.#parts.processes.all.flatMap(({ graph }) => graph ? [graph] : [])
    await Promise.all(graphs.map((graph) => graph.drain(deadline)))
  }

  /** Drops all waiting work. Its listeners are not called. */
  close(): void {
    this.#draining = true
    for (const job of [...this.#jobs.values()]) if (!job.lease) this.#remove(job)
  }

  get #newest(): GraphProcess | undefined {
    return this.#parts.processes.all.find(({ graph }) => graph)?.graph
  }

  async #begin(job: Job): Promise<void> {
    const { execution, source, stop: { signal } } = job
    try {
      // Edits are short, and a client waits for them.
      if (execution.request.kind === 'run' && !execution.stops) {
        job.leaveTurn = await this.#parts.turns.enter(execution.tenant, signal)
      }
      const lease = await this.#loaded(signal)
      // It may have been dropped in the microtask in between.
      if (!this.#jobs.has(execution.id)) {
        job.leaveTurn()
        return lease.leave()
      }
      job.lease = lease
      lease.graph.execute(execution, source, this.#listening(job, lease))
    } catch (error) {
      if (signal.aborted) return job.leaveTurn()
      this.#remove(job)
      job.listener.ended(this.#notLoaded(HeddleError.from(error)))
    }
  }

  /** A lease of a loaded process. Retries what can be tried again, until the job is dropped. */
  async #loaded(signal: AbortSignal): Promise<ProcessLease> {
    const { processes, env } = this.#parts
    const backoff = new Backoff(env, pauses)
    for (;;) {
      try {
        return await processes.take('executing', signal)
      } catch (error) {
        if (signal.aborted || HeddleError.from(error).retry === 'no') throw error
      }
      await abortable(backoff.pause(), signal)
    }
  }

  #listening(job: Job, { hide }: ProcessLease): ExecutionListener {
    const { listener, execution: { id } } = job
    const end = (notify: () => void) => {
      if (this.#jobs.get(id) !== job) return
      this.#remove(job)
      notify()
    }
    return {
      steps: (batch) => listener.steps(batch),
      ended: (outcome) => end(() => listener.ended(hiddenIn(outcome, hide))),
      lost: (reason) => end(() => listener.lost(reason)),
    }
  }

  #notLoaded({ message }: HeddleError): ExecutionOutcome {
    return { status: 'error', waiting: false, interrupts: '{}',
      error: { error: 'RevisionNotLoaded',
        message: `Revision ${this.#parts.revision} cannot be loaded: ${message}` } }
  }

  #endWaiting(job: Job): void {
    this.#remove(job)
    job.listener.ended(drained)
  }

  #remove(job: Job): void {
    this.#jobs.delete(job.execution.id)
    if (job.lease) job.lease.leave()
    else job.stop.abort(new HeddleError('unavailable', 'Nobody waits for this any more.'))
    job.leaveTurn()
  }

  async #asked<Answer>(work: (graph: GraphProcess) => Promise<Answer>,
    cancelled?: AbortSignal): Promise<Answer> {
    const lease = await this.#parts.processes.take('asking', cancelled)
    try {
      return await work(lease.graph)
    } catch (error) {
      throw hiddenFault(error, lease.hide)
    } finally {
      lease.leave()
    }
  }
}

/** The outcome without secrets, because errors of code may contain them and callers read them. */
function hiddenIn(outcome: ExecutionOutcome, hide: ProcessLease['hide']): ExecutionOutcome {
  const { error } = outcome
  return error === null
    ? outcome
    : { ...outcome, error: { ...error, message: hide(error.message) } }
}

function hiddenFault(error: unknown, hide: ProcessLease['hide']): unknown {
  const isOfCode = error instanceof HeddleError && error.code === 'graph_failed'
  return isOfCode ? new HeddleError(error.code, hide(error.message)) : error
}
