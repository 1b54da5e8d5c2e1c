/** Gives executions to workers, passes on their batches, and handles lost workers. */

import { LRUCache } from '../../../cluster/index.ts'
import type { CheckpointSource, Execution, ExecutionListener, LossReason, ExecutionOutcome,
  PauseReason } from '../execution.ts'
import type { WrittenLines } from '../logs/run-line.ts'
import { CrashBlame } from './crash-blame.ts'
import { HoldTimes, Longest } from './turns/hold-times.ts'
import { TurnQueue } from './turns/turn-queue.ts'
import { graphOf, laneOf, turnOf } from './turns/turn-of.ts'
import { choose, chooseFor, silentAfterMs } from './turns/worker-choice.ts'
import type { WorkerLink } from './worker-link.ts'
import type { WorkerMail } from './worker-mail.ts'
import type { WorkerPool } from './worker-pool.ts'

interface Job {
  readonly number: number
  readonly execution: Execution
  readonly source: CheckpointSource
  readonly listener: ExecutionListener
  /** Undefined while the job waits for a worker. */
  link: WorkerLink | undefined
  /** For how long it held the loop of its worker. */
  readonly held: Longest
}

/** Takes the lines that the code of an execution wrote. */
export interface TakeLines {
  add(execution: Execution, lines: WrittenLines): void
}

/** Threads for which the last worker is kept. The least recently used are dropped. */
const affinityMax = 100_000

/** Schedules executions. Belongs to the graph host. */
export class ExecutionScheduler {
  readonly #pool: WorkerPool
  readonly #nextJob: () => number
  readonly #jobs = new Map<number, Job>()
  readonly #byExecution = new Map<number, Job>()
  /** Executions that wait until a worker has room for them. */
  readonly #queue = new TurnQueue<Job>(({ execution }) => turnOf(execution))
  /** Executions that wait for a worker of their own. */
  readonly #apart = new Set<Job>()
  readonly #holdTimes = new HoldTimes()
  /** The worker that executed a thread last, and so may have its head in memory. */
  readonly #affinity = new LRUCache<string, WorkerLink>({ max: affinityMax })
  readonly #crashBlame = new CrashBlame()
  /** Receives the lines that runs write to their consoles. */
  readonly #lines: TakeLines
  #draining = false
  #willPump = false
  #whenEmpty: (() => void) | undefined

  constructor(pool: WorkerPool, nextJob: () => number, lines: TakeLines) {
    this.#lines = lines
    this.#pool = pool
    this.#nextJob = nextJob
  }

  /** Executions that a worker has, and those that wait for one. */
  get counts(): { readonly underWay: number; readonly waiting: number } {
    const waiting = this.#queue.size + this.#apart.size
    return { underWay: this.#jobs.size - waiting, waiting }
  }

  execute(execution: Execution, source: CheckpointSource, listener: ExecutionListener): void {
    if (this.#draining) return listener.ended(drained)
    const number = this.#nextJob()
    const job: Job = { number, execution, source, listener, link: undefined, held: new Longest() }
    this.#jobs.set(number, job)
    this.#byExecution.set(execution.id, job)
    if (this.#isForItself(job)) {
      if (!this.#isolate(job)) this.#apart.add(job)
    } else if (this.#queue.size > 0 || !this.#dispatch(job, this.#pool.members)) {
      this.#queue.add(job)
      this.#pumpSoon()
    }
  }

  pause(executionId: number, why?: PauseReason): void {
    const job = this.#byExecution.get(executionId)
    if (job?.link) return job.link.post({ type: 'pause', job: job.number, why })
    if (!job) return
    if (why === 'messages') return void (job.execution.takesMessages = true)
    this.#remove(job)
    job.listener.ended(drained)
  }

  abort(executionId: number): void {
    const job = this.#byExecution.get(executionId)
    if (!job) return
    const { link, number, execution } = job
    this.#affinity.delete(threadOf(execution))
    this.#remove(job)
    if (!link || !this.#pool.has(link)) return
    link.post({ type: 'abort', job: number })
    link.hasAborted = true
    // A silent worker does not read this message, so it is ended if it has no other execution.
    if (link.executions === 0 && link.silentMs >= silentAfterMs) this.#pool.retire(link)
  }

  /** As `GraphHost.stop`. */
  stop(executionId: number): void {
    const job = this.#byExecution.get(executionId)
    if (!job) return
    const { link, number, execution, listener } = job
    this.#affinity.delete(threadOf(execution))
    if (!link) return this.#stopWaiting(job)
    if (link.silentMs < silentAfterMs) {
      link.post({ type: 'stop', job: number })
      link.hasAborted = true
    } else {
      this.abort(executionId)
      listener.ended(aborted)
    }
  }

  /** Makes runs stop at their next superstep. Resolves when none is left, or at the deadline. */
  async drain(deadline: AbortSignal): Promise<void> {
    this.#draining = true
    for (const job of [...this.#queue, ...this.#apart]) {
      this.#remove(job)
      job.listener.ended(drained)
    }
    for (const link of this.#pool.everyone) link.post({ type: 'drain' })
    if (this.#jobs.size === 0 || deadline.aborted) return
    await new Promise<void>((resolve) => {
      this.#whenEmpty = resolve
      deadline.addEventListener('abort', () => resolve(), { once: true })
    })
  }

  /** Hands out waiting executions. Call when a worker may have room. */
  pump(): void {
    for (const job of this.#apart) {
      if (!this.#isolate(job)) break
      this.#apart.delete(job)
    }
    if (this.#queue.size === 0) return
    const { members } = this.#pool
    if (members.length > 0) { while (this.#queue.take((job) => this.#dispatch(job, members))); }
    if (this.#queue.size === 0) return
    // The answer says whether the loop is held. Runs that have not begun will send something by
    // themselves.
    for (const link of members) if (link.load.mayRest) link.ping()
  }

  /** The checkpoints of the thread that a job of this worker works on. */
  sourceOf(link: WorkerLink, job: number): CheckpointSource | undefined {
    return this.#jobOf(link, job)?.source
  }

  /** The tenant of a job of this worker; undefined if it does not have it any more. */
  tenantOf(link: WorkerLink, job: number): string | undefined {
    return this.#jobOf(link, job)?.execution.tenant
  }

  mail(link: WorkerLink, mail: WorkerMail): void {
    switch (mail.type) {
      case 'batch':
        return this.#batch(link, mail)
      case 'broken':
        return this.#broken(link, mail.job)
      case 'wrote':
        return this.#wrote(link, mail)
    }
  }

  /**
   * Handles a worker that has ended. Suspects among its jobs count as crashed: the likeliest
   * culprit and earlier ones. Only earlier ones do if an inquiry may have ended the worker.
   */
  ended(link: WorkerLink): void {
    if (!link.hasLoaded) this.#unbegun(link)
    else if (link.isFull) this.#filled(link)
    else this.#died(link)
    // Threads that never run again would otherwise keep the link and all that it references.
    for (const [thread, last] of [...this.#affinity]) {
      if (last === link) this.#affinity.delete(thread)
    }
  }

  /**
   * Handles a worker that ended before it had loaded the project. Its job did not start, so it
   * waits for another worker, in the same attempt.
   */
  #unbegun(link: WorkerLink): void {
    for (const job of this.#on(link)) {
      this.#affinity.delete(threadOf(job.execution))
      job.link = undefined
      if (this.#draining) {
        this.#remove(job)
        job.listener.ended(drained)
      } else this.#apart.add(job)
    }
  }

  /**
   * Handles a worker that has filled its memory. The culprit shows in a worker of its own, which
   * each suspect gets. In any other worker it may have been a neighbour, or what earlier runs have
   * left. No run loses an attempt.
   */
  #filled(link: WorkerLink): void {
    const { jobs } = this.#blame(link)
    for (const job of jobs) {
      if (link.quarantined) this.#crashBlame.clear(runOf(job))
      this.#lose(job, link.quarantined ? 'full' : 'displaced')
    }
  }

  #died(link: WorkerLink): void {
    const suspects = this.#on(link).filter((job) => this.#crashBlame.isSuspect(runOf(job)))
    const { jobs, entered } = this.#blame(link)
    for (const job of jobs) {
      const guilty = entered ? this.#crashBlame.isSuspect(runOf(job)) : suspects.includes(job)
      this.#lose(job, guilty ? 'crashed' : 'displaced')
    }
  }

  /**
   * Handles a stuck worker. A job alone on it may stay. Of several jobs, any may be the culprit.
   */
  stuck(link: WorkerLink): void {
    const { jobs, entered } = this.#blame(link)
    // Without `entered`, an inquiry may be what does not end.
    const alone = jobs.length === 1 && entered !== undefined && !link.hasAborted
    if (alone && this.#pool.leaveAlone(link)) return
    for (const job of jobs) this.#lose(job, alone ? 'crashed' : 'displaced')
    this.#pool.retire(link)
  }

  /** Ends a worker for a reason that has nothing to do with its jobs. */
  dismiss(link: WorkerLink): void {
    for (const job of this.#on(link)) this.#lose(job, 'displaced')
    this.#pool.retire(link)
  }

  #blame(link: WorkerLink): { jobs: Job[]; entered: Job | undefined } {
    const jobs = this.#on(link)
    const entered = jobs.find(({ number }) => number === link.enteredJob)
    this.#crashBlame.blame(jobs.map(runOf), entered && runOf(entered))
    return { jobs, entered }
  }

  /** True if the job gets a worker of its own. */
  #isForItself(job: Job): boolean {
    return job.execution.apart === true || this.#crashBlame.isSuspect(runOf(job))
  }

  /** Stops a job that waits for a worker. A worker then only adds its input to the state. */
  #stopWaiting(job: Job): void {
    const { execution, listener } = job
    if (this.#apart.has(job)) {
      this.#remove(job)
      return listener.ended(aborted)
    }
    // Its turn depends on `stops`.
    this.#queue.delete(job)
    execution.stops = true
    if (!this.#dispatch(job, this.#pool.members)) this.#queue.add(job)
  }

  /** Gives a job to one of the workers. False if none can begin it soon. */
  #dispatch(job: Job, members: readonly WorkerLink[]): boolean {
    const { execution } = job
    const holder = { ms: this.#holdTimes.of(graphOf(execution)), lane: laneOf(execution) }
    const last = this.#affinity.get(threadOf(execution))
    // A job that stops executes no node, so it holds no loop.
    const link = execution.stops ? choose(members, last) : chooseFor(holder, members, last)
    if (!link) return false
    link.load.add(job.number, holder)
    this.#give(job, link)
    return true
  }

  /** Gives a job to a new worker. False if there are too many. */
  #isolate(job: Job): boolean {
    const link = this.#pool.startQuarantined(job.execution.apart)
    if (link) this.#give(job, link)
    return link !== undefined
  }

  #give(job: Job, link: WorkerLink): void {
    const { number, execution } = job
    const thread = threadOf(execution)
    const warm = this.#affinity.get(thread) === link
    job.link = link
    link.executions += 1
    this.#affinity.set(thread, link)
    link.post({ type: 'execute', job: number, execution, warm })
  }

  /** Once for all that happens in this turn of the event loop. */
  #pumpSoon(): void {
    if (this.#willPump) return
    this.#willPump = true
    queueMicrotask(() => {
      this.#willPump = false
      this.pump()
    })
  }

  #batch(link: WorkerLink,
    { job: number, batch: sent, heldMs = 0 }: WorkerMail & { type: 'batch' }): void {
    const job = this.#jobOf(link, number)
    if (!job) return
    this.#held(job, link, heldMs)
    const { ackId, outcome, ...batch } = sent
    const { steps, events, texts, awaited } = batch
    if (steps.length > 0 || events.length > 0 || texts || ackId > 0) {
      job.listener.steps(batch).then(
        () => {
          if (ackId > 0) link.post({ type: 'confirm', job: number, ackId })
          if (awaited) link.post({ type: 'landed', job: number })
        },
        // The batch will never be on disk, so the execution must not continue from it.
        () => {
          this.#affinity.delete(threadOf(job.execution))
          this.abort(job.execution.id)
        },
      )
    }
    if (outcome) {
      this.#holdTimes.ended(graphOf(job.execution), job.held)
      this.#crashBlame.clear(runOf(job))
      this.#remove(job)
      job.listener.ended(outcome)
    }
  }

  /** Notes that a job has sent something, after it had held the loop. */
  #held(job: Job, link: WorkerLink, heldMs: number): void {
    job.held.add(heldMs)
    this.#holdTimes.held(graphOf(job.execution), job.held)
    link.load.begun(job.number, heldMs)
    if (this.#queue.size > 0) this.#pumpSoon()
  }

  /** Undefined for a job that this worker does not have. A worker speaks for its own jobs only. */
  #jobOf(link: WorkerLink, number: number): Job | undefined {
    const job = this.#jobs.get(number)
    return job?.link === link ? job : undefined
  }

  #wrote(link: WorkerLink, { job, lines, dropped }: WorkerMail & { type: 'wrote' }): void {
    const execution = this.#jobOf(link, job)?.execution
    // An edit has no run.
    if (execution && execution.runId !== '') this.#lines.add(execution, { lines, dropped })
  }

  #broken(link: WorkerLink, number: number): void {
    const job = this.#jobOf(link, number)
    if (job) this.#lose(job, 'crashed')
  }

  #lose(job: Job, reason: LossReason): void {
    this.#affinity.delete(threadOf(job.execution))
    this.#remove(job)
    job.listener.lost(reason)
  }

  #on(link: WorkerLink): Job[] {
    return [...this.#jobs.values()].filter((job) => job.link === link)
  }

  #remove(job: Job): void {
    this.#jobs.delete(job.number)
    this.#byExecution.delete(job.execution.id)
    if (!job.link && !this.#apart.delete(job)) this.#queue.delete(job)
    if (job.link) {
      job.link.executions -= 1
      job.link.load.delete(job.number)
      if (job.link.executions === 0) this.#pool.spare(job.link)
    }
    if (this.#queue.size + this.#apart.size > 0) this.#pumpSoon()
    if (this.#jobs.size === 0) this.#whenEmpty?.()
  }
}

/** The outcome of an execution that was stopped. */
export const aborted: ExecutionOutcome = { status: 'aborted', waiting: false, interrupts: '{}',
  error: null }

/** The outcome of what was stopped before it began. */
export const drained: ExecutionOutcome = { status: 'drained', waiting: false, interrupts: '{}',
  error: null }

function threadOf({ tenant, threadId }: Execution): string {
  return `${tenant}\n${threadId}`
}

/** The key for blame: a run, or the thread of an edit, which has no run id. */
function runOf({ execution }: Job): string {
  return `${threadOf(execution)}\n${execution.runId}`
}
