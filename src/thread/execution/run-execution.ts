/** One execution of a run: what it is started with, and when it is over. */

import { untilAvailable } from '../../../cluster/index.ts'
import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { StoredTuple } from '../../checkpoint/index.ts'
import { waitingInterrupts } from '../../graph/index.ts'
import type { ExecutionOutcome, GraphHost, StepBatch } from '../../graph/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { hostOfRun } from '../context/thread-graphs.ts'
import { refusalOf } from '../decide/strict-resume.ts'
import { executionSource } from '../log/execution-source.ts'
import type { Refusal } from '../model/refusal.ts'
import { answerOf, planOf, runRequest } from '../model/run-request.ts'
import type { ResumePoint } from '../model/run-request.ts'
import { executionListener, ExecutionReports } from './execution-reports.ts'
import type { ExecutionReport } from './execution-reports.ts'
import { notifyAppended, RunOutput } from './run-output.ts'
import type { Appended, OutputFeeds } from './run-output.ts'

/** The run of an execution, and how it is started. */
export interface Started {
  readonly run: RunRow
  /** Time from which the limit of its attempt counts. */
  readonly beganMs: number
  /** The revision that the run has stopped for before. */
  readonly stoppedFor?: string | undefined
  /** True if it only adds its input to the state. */
  readonly stops?: boolean
}

/** One attempt of a run in a worker. */
export class RunExecution {
  readonly kind = 'run'
  readonly id: number
  readonly run: RunRow
  readonly #context: ThreadContext
  readonly #host: GraphHost
  readonly #output: RunOutput
  readonly #threadEvents: boolean
  readonly #beganMs: number
  #stopLimit: (() => void) | undefined
  /** True if it was handed to the graph host. */
  begun = false
  /** The revision that it stops for, or that its run has stopped for before. */
  stopsFor: string | undefined
  /** True if its stop for that was requested. */
  isStopping = false
  /** True if its stop for messages was requested. */
  takesMessages = false
  #isCut: boolean
  #closed = false
  readonly #reports = new ExecutionReports()
  readonly #ended = Promise.withResolvers<void>()

  /** With a `threadFeed`, it makes events of protocol v2 for the thread as a whole. */
  constructor(context: ThreadContext, feeds: OutputFeeds,
    { run, beganMs, stoppedFor, stops = false }: Started) {
    this.id = context.ports.nextExecutionId()
    this.run = run
    this.#beganMs = beganMs
    this.stopsFor = stoppedFor
    this.#isCut = stops
    this.#context = context
    this.#host = hostOfRun(context, run)
    this.#output = new RunOutput(context, feeds, run.runId)
    this.#threadEvents = feeds.threadFeed !== undefined
  }

  /** Resolves when nothing more is expected of it. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Begins when the attempt is in the log; reads what it needs meanwhile. */
  async beginWhenRead(resumePoint: () => Promise<ResumePoint>): Promise<void> {
    const { ports: { env }, threadLog, threadId, notify } = this.#context
    // The time limit counts from here: reads are repeated, and may never succeed.
    this.#limit(planOf(this.run).timeoutMs)
    try {
      const [found, head] = await this.#steadily(() =>
        Promise.all([resumePoint(), threadLog.loadHead(), threadLog.logged])
      )
      const refusal = found.wrote ? undefined : await this.#refusal(head)
      if (this.#closed) return
      if (refusal) notify({ type: 'refused', executionId: this.id, refusal })
      else this.begin(found, head)
    } catch (error) {
      if (this.#closed) return
      const { runId } = this.run
      env.log.warn('A run could not be started.', { error, threadId, runId })
      notify({ type: 'lost', executionId: this.id, reason: 'crashed' })
    }
  }

  /** Hands the run to the graph host. `head`: the thread's head, if it was just read. */
  begin(resumePoint: ResumePoint, head?: StoredTuple): void {
    this.begun = true
    const { threadLog, tenant, threadId } = this.#context
    const { run, id } = this
    const plan = planOf(run)
    this.#limit(plan.timeoutMs)
    this.#host.execute({
      id,
      tenant,
      threadId,
      graphId: plan.graphId,
      runId: run.runId,
      attempt: run.attempt,
      start: run.starts ?? 1,
      headId: threadLog.state.row.head?.id ?? null,
      lastExecution: threadLog.newestSteps.execution,
      ...plan.trace !== undefined && { trace: plan.trace },
      ...plan.isAwaited && { isAwaited: true },
      ...plan.user && { user: plan.user },
      ...run.revision !== undefined && { revision: run.revision },
      // A suspect has a process of its own.
      ...run.suspect && { apart: true },
      ...this.#isCut && { stops: true },
      request: { ...runRequest(run, plan, resumePoint),
        ...this.#threadEvents && { threadEvents: true } },
    }, executionSource(threadLog, { head, steadily: (read) => this.#steadily(read) }),
      executionListener(id, this.#context, this.#reports))
    if (this.isStopping) this.pause()
    if (this.takesMessages) this.#host.pause(this.id, 'messages')
  }

  /** Lets it stop at its next superstep. */
  pause(): void {
    this.#host.pause(this.id)
  }

  /** Lets it stop at its next superstep, so that its run goes on with another revision. */
  stopFor(revision: string): void {
    this.stopsFor = revision
    this.isStopping = true
    if (this.begun) this.pause()
  }

  /** Lets it stop between two supersteps at which messages may be added to its state. */
  stopForMessages(): void {
    this.takesMessages = true
    if (this.begun) this.#host.pause(this.id, 'messages')
  }

  /**
   * Stops it and takes in its completed steps, including reports in the mailbox behind the current
   * turn. Resolves with its outcome, or with undefined if it was lost or has not reported
   * its end within `ms` milliseconds.
   */
  async stop(ms: number): Promise<ExecutionOutcome | undefined> {
    this.#isCut = true
    if (this.begun) this.#host.stop(this.id)
    const stopWaiting = this.#context.ports.env.after(ms, () => this.#reports.close())
    try {
      for (;;) {
        const report = await this.#reports.next()
        if (report?.type !== 'steps') return report?.type === 'ended' ? report.outcome : undefined
        await notifyAppended(this.steps(report.batch), report.done, this.#context)
      }
    } finally {
      stopWaiting()
    }
  }

  /** Returns false if `stop` has handled the report. */
  takes(report: ExecutionReport): boolean {
    return this.#reports.take(report)
  }

  /** Ends it without waiting for user code. */
  abort(): void {
    this.#host.abort(this.id)
  }

  /** Expects nothing more. Events in the reorder buffer that have their data are still sent. */
  close(): void {
    this.#closed = true
    this.#reports.close()
    this.#output.close()
    this.#stopLimit?.()
    this.#ended.resolve()
  }

  /** As `RunOutput.steps`. */
  steps(batch: StepBatch): Appended | Promise<Appended> {
    return this.#output.steps(batch)
  }

  /**
   * Reason why the answer that a strict run begins with is refused; undefined for one that fits. No
   * other run is executed meanwhile, so what waits now waits until this run uses it.
   */
  async #refusal(known: StoredTuple | undefined): Promise<Refusal | undefined> {
    const { threadLog } = this.#context
    if (!this.run.strictResume) return undefined
    const resume = answerOf(this.run, threadLog.state.row.head?.id)
    if (resume === undefined) return undefined
    const tuple = known ?? await this.#steadily(() => threadLog.live.tuple('', null))
    return refusalOf(resume, waitingInterrupts(tuple?.writes ?? []))
  }

  #limit(ms: number): void {
    const { ports: { env, deployed }, tenant, notify } = this.#context
    const limitMs = Math.min(ms, deployed?.view(tenant)?.runTimeoutMs ?? Infinity)
    const leftMs = Math.max(0, this.#beganMs + limitMs - env.nowMs())
    this.#stopLimit ??= env.after(leftMs,
      () => notify({ type: 'time_limit', executionId: this.id }))
  }

  #steadily<Result>(read: () => Promise<Result>): Promise<Result> {
    const { ports: { env }, threadId } = this.#context
    const { runId } = this.run
    // While the store is away the run waits, as its appends do, instead of using up attempts.
    return untilAvailable({
      env,
      hasEnded: () => this.#closed,
      waits: (error) => env.log.warn('A run waits for the store.', { error, threadId, runId }),
    }, read)
  }
}
