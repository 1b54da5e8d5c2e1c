/** Drives a thread's runs, one at a time: admits, starts, continues and ends them. */

import type { Turn } from '../../../cluster/index.ts'
import type { AppliedCommand, RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText, RecordOf } from '../../checkpoint/index.ts'
import { goingAway, HeddleError } from '../../errors.ts'
import type { LossReason, ExecutionOutcome, StepBatch } from '../../graph/index.ts'
import { errorEntry, metadataEntry, trailOnDisk } from '../context/resume-point.ts'
import { logFailure } from '../context/thread-context.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { KeyedRuns, runAsMade } from '../decide/known-run.ts'
import { requireOutlive, rollbackOf, takenBack } from '../decide/rollback.ts'
import type { Rollback } from '../decide/rollback.ts'
import { admit, attemptOf, attemptsMax, charactersOf, nextRun,
  storeFailedMs } from '../decide/run-queue.ts'
import { endingOf, errorResult, outOfAttempts, outOfMemory, outOfTime, rolledBack,
  runResult } from '../decide/run-result.ts'
import type { Ending } from '../decide/run-result.ts'
import type { Urgency } from '../log/log-writer.ts'
import { admissionRecords, blameless, handedBack, startedRecord } from '../model/run-records.ts'
import { forkOf, noResumePoint, planOf } from '../model/run-request.ts'
import type { CancelRun, FeedListener, FollowRun, StartRun } from '../model/thread-client.ts'
import { endedRun } from '../model/thread-state.ts'
import { attemptAfterProof, verdictOn } from './crash-blame.ts'
import { RunExecution } from './run-execution.ts'
import type { Appended } from './run-execution.ts'
import { RunFeeds } from './run-feeds.ts'
import { RunRetention } from './run-retention.ts'
import { RunTimer } from './run-timer.ts'
import { RunWaiters, unwritten } from './run-waiters.ts'
import { valuesAtHand, valuesOf } from './state-values.ts'
import { Trial } from './trial.ts'

export class RunLifecycle {
  readonly #context: ThreadContext
  readonly #feeds: RunFeeds
  readonly #waiters = new RunWaiters()
  readonly #retention: RunRetention
  readonly #keyed: KeyedRuns
  readonly #timer: RunTimer
  readonly #trial: Trial
  #execution: RunExecution | undefined
  /** The state is being edited: no run starts meanwhile. */
  #held = false
  /** The thread moves to another owner, which continues its runs: none starts here. */
  #resting = false

  constructor(context: ThreadContext) {
    this.#context = context
    this.#retention = new RunRetention(context)
    this.#keyed = new KeyedRuns(context)
    this.#timer = new RunTimer(context)
    this.#trial = new Trial(context)
    this.#feeds = new RunFeeds(context, () => this.#retention.endSeen())
  }

  get busy(): boolean {
    return this.#threadLog.state.runs.length > 0
  }
  /** Whether any run is under way, waited for, or due before others would wake the thread. */
  get awake(): boolean {
    const isNeeded = this.#waiters.any || this.#held || this.#resting
    return this.busy && (isNeeded || !this.#timer.mayDoze)
  }
  get followed(): boolean {
    return this.#feeds.followed
  }

  get #threadLog() {
    return this.#context.threadLog
  }
  get #nowMs() {
    return this.#context.ports.env.nowMs()
  }

  /** For a thread that exists. `note` is written with the run. Throws `rejected` or `full`. */
  async start(run: StartRun, note: readonly RecordOf[]): Promise<Turn> {
    const known = this.#unfinished(run.runId) ?? await this.#keyed.get(run.commandId)
    if (known) return { reply: this.#threadLog.durable.then(() => known) }
    this.requireRoom()
    const { limits } = this.#context.ports
    const admission = admit(this.#threadLog.state.runs, run.strategy, limits)
    if (admission.kind !== 'enqueue') {
      await this.#cut(admission.runs, admission.kind, { fork: forkOf(run)?.checkpointId })
    }
    const urgency = run.awaited ? 'soon' : 'now'
    const records = admissionRecords(run, this.#threadLog.state.row, this.#nowMs)
    const written = this.#threadLog.write([...records, ...note], urgency)
    this.#keyed.add(run)
    this.#feeds.begin(run.runId, run)
    this.startNext(urgency)
    const row = this.#unfinished(run.runId)!
    if (!run.awaited) return { reply: this.#threadLog.durable.then(() => row) }
    written.catch((error: unknown) => this.#waiters.refuse(run.runId, unwritten(error)))
    return { reply: row, kind: 'early' }
  }

  /** Throws `full` if this member holds too much input of runs and edits already. */
  requireRoom(): void {
    this.#context.inputs.requireLeft(this)
  }

  /** Answers a repeated `start`: the run that the first one made, as it is now. */
  async started({ runId }: StartRun, applied: AppliedCommand): Promise<RunRow> {
    try {
      return await this.row(runId)
    } catch (error) {
      if (HeddleError.from(error).code !== 'not_found') throw error
      return await runAsMade(runId, applied, this.#context)
    }
  }

  /** Starts what may start now, or sets a timer for when something may. */
  startNext(urgency: Urgency = 'now', woken = false): void {
    this.#timer.stop()
    this.#holdInputs()
    this.#trial.look()
    if (this.#held || this.#resting) return
    const { env } = this.#context.ports
    const next = nextRun(this.#threadLog.state.runs, env.nowMs(), this.#execution !== undefined)
    if (next.kind === 'start' && this.#trial.admits(next.run)) {
      this.#launch(next.run, next.attempt, urgency, woken)
    }
    if (next.kind === 'wait') this.#timer.waitUntil(next.atMs, this.awake || this.followed)
  }

  /**
   * Called while the thread is loaded. A run that was running has lost its owner, or the activation
   * before this one: that costs an attempt. If only the store had failed, it waits for a while.
   */
  recover(storeFailed: boolean): void {
    for (const run of this.#threadLog.state.runs) this.#feeds.resume(run)
    this.#holdInputs()
    if (storeFailed) return this.#timer.wakeIn(storeFailedMs)
    const run = this.#running
    if (!run) return this.startNext('now', true)
    if (this.#threadLog.isInherited) return this.#judge(run)
    this.#launch(run, attemptOf(run), 'now', true)
  }

  /** The owner before this one died with the run in progress. */
  #judge(run: RunRow): void {
    const { kind, ownerDeaths } = verdictOn(run, this.#context.ports.quarantine.isMarked(run))
    if (kind === 'innocent') return this.#launch({ ...run, ownerDeaths }, run.attempt, 'now', true)
    if (kind === 'guilty') this.#finish(run, outOfAttempts)
    else this.#handBack({ ...run, ownerDeaths, suspect: true })
    this.startNext('now', true)
  }

  /**
   * Starts no more runs and hands the running one back at its next superstep, so that the next
   * owner continues the same attempt. Resolves when it was handed back or has ended.
   */
  async rest(): Promise<void> {
    // A run that waits for the store has a timer; one whose worker died here has none.
    const waits = this.#timer.isSet
    this.#resting = true
    this.startNext()
    const execution = this.#execution
    if (execution?.begun) this.#context.ports.host.pause(execution.id)
    else if ((execution || waits) && this.#running) this.#handBack(this.#running)
    await execution?.ended
  }

  /** Keeps runs from starting while somebody edits the state. */
  hold(held: boolean): void {
    this.#held = held
    if (!held) this.startNext()
  }

  /** Undefined if the execution is not the current one: its steps are not written. */
  steps(executionId: number, batch: StepBatch): Appended | Promise<Appended> | undefined {
    const written = this.#current(executionId)?.steps(batch)
    this.#trial.look()
    return written
  }

  ended(executionId: number, outcome: ExecutionOutcome): void {
    const run = this.#current(executionId)?.run
    if (!run || outcome.status === 'aborted') return
    if (outcome.status === 'drained') return this.#handBack(this.#unfinished(run.runId)!)
    this.#ended(run, endingOf(outcome, outcome.status))
  }

  /** The worker was lost: the run moves to another, as a new attempt unless `displaced`. */
  lost(executionId: number, reason: LossReason): void {
    const { run, isApart } = this.#current(executionId) ?? {}
    if (!run) return
    this.#drop()
    const current = this.#unfinished(run.runId)!
    if (reason === 'full') return this.#ended(current, outOfMemory)
    if (isApart && reason === 'crashed') return this.#proven(current)
    if (reason === 'displaced') this.#handBack(current)
    if (this.#resting) return
    this.#launch(current, reason === 'displaced' ? run.attempt : attemptOf(current), 'now')
  }

  /** Its own process died: it goes back to the quarantine, without the attempts that it cost. */
  #proven(run: RunRow): void {
    this.#trial.end()
    const attempt = attemptAfterProof(run)
    if (attempt > attemptsMax) this.#finish(run, outOfAttempts)
    else this.#handBack({ ...run, ownerDeaths: 0, suspect: true }, attempt)
    if (!this.#resting) this.startNext()
  }

  timeLimit(executionId: number): void {
    const run = this.#current(executionId)?.run
    if (!run) return
    this.#abort()
    this.#ended(run, outOfTime)
  }

  #ended(run: RunRow, ending: Ending, urgency: Urgency = 'now', woken = false): void {
    this.#finish(run, ending)
    this.startNext(urgency, woken)
  }

  /** The reply comes when the cancel is in the log: the run has ended then. */
  async cancel(runId: string, { action }: CancelRun, note: readonly RecordOf[]): Promise<Turn> {
    const run = this.#unfinished(runId)
    if (run) {
      await this.#cut([run], action, { note })
      this.startNext()
    } else {
      await this.row(runId)
    }
    return { reply: this.#threadLog.durable }
  }

  async delete(runId: string, note: readonly RecordOf[]): Promise<Turn> {
    const run = this.#unfinished(runId)
    await (run ? this.#cut([run], 'interrupt') : this.row(runId))
    this.#feeds.forget(runId)
    void this.#threadLog.write([...takenBack([{ runId }], undefined, this.#nowMs), ...note])
    this.startNext()
    return { reply: this.#threadLog.durable }
  }

  join(runId: string, cancelled?: AbortSignal): Turn {
    if (this.#unfinished(runId)) return { reply: this.#waiters.wait(runId, cancelled) }
    return { reply: this.row(runId).then((run) => this.#resultOf(run)) }
  }

  /** Throws `not_found`. */
  async row(runId: string): Promise<RunRow> {
    const { ports: { runs }, tenant, threadId } = this.#context
    const known = this.#unfinished(runId)
    await this.#threadLog.durable
    const run = known ?? await runs.get(tenant, threadId, runId)
    if (!run) throw new HeddleError('not_found', `Run ${runId} not found on this thread.`)
    return run
  }

  async follow(runId: string, follow: FollowRun, listener: FeedListener): Promise<() => void> {
    // Reading `durable` hurries the write: a follower waits for the first events.
    void this.#threadLog.durable
    const run = this.#feeds.has(runId) ? undefined : await this.row(runId)
    return this.#feeds.follow(runId, run, follow, listener)
  }

  /**
   * The thread is being deleted: its runs end without rows of their own. Followers and waiters
   * get that end when the delete is on disk.
   */
  deleteAll(durable: Promise<void>): void {
    this.release()
    this.#held = false
    this.#feeds.endAll(durable)
    this.#waiters.refuseAllWith(durable.then(
      () => new HeddleError('not_found', 'The thread was deleted.'),
      () => goingAway(),
    ))
  }

  /** This activation ends; its runs continue elsewhere or later. */
  release(): void {
    this.#abort()
    this.#timer.stop()
    this.#trial.end()
    this.#retention.stop()
    this.#context.inputs.hold(this, 0)
  }

  /** Once every write has landed or failed: sends followers and waiters to the next owner. */
  leave(): void {
    this.#feeds.loseAll()
    this.#waiters.refuseAll(goingAway())
  }

  #holdInputs(): void {
    this.#context.inputs.hold(this, charactersOf(this.#threadLog.state.runs))
  }

  /** `woken`: the thread is being loaded, so that no row of this activation is on disk yet. */
  #launch(run: RunRow, attempt: number, urgency: Urgency, woken = false): void {
    if (attempt > attemptsMax) return this.#ended(run, outOfAttempts, urgency, woken)
    const { head } = this.#threadLog.state.row
    const baseCheckpointId = run.started ? run.baseCheckpointId : head?.id ?? ''
    const { seq } = this.#threadLog.position
    const started = startedRecord({ ...run, attempt, baseCheckpointId }, this.#nowMs)
    const durable = this.#threadLog.write([started], urgency)
    this.#feeds.publish(run.runId, durable, [metadataEntry(run.runId, attempt, seq)])
    const current = this.#unfinished(run.runId)!
    const execution = this.#execution = new RunExecution(this.#context, this.#feeds, current)
    const isKnown = !head || this.#threadLog.recentView(head.id) !== undefined
    const onDisk = woken ? seq - 1 : undefined
    if (run.started) void execution.beginWhenRead(() => trailOnDisk(current, this.#context, onDisk))
    else if (woken || !isKnown) void execution.beginWhenRead(async () => noResumePoint)
    else execution.begin(noResumePoint)
  }

  /** Its next start continues the same attempt, unless another one is named. */
  #handBack(run: RunRow, attempt = run.attempt): void {
    this.#drop()
    void this.#threadLog.write([handedBack({ ...run, attempt }, this.#nowMs)])
  }

  #finish(run: RunRow,
    { status, waiting = false, interruptsJson = '', values, error, at }: Ending): void {
    if (this.#execution?.run.runId === run.runId) this.#drop()
    const plan = planOf(run)
    const { seq } = this.#threadLog.position
    const errorJson = error ? JSON.stringify(error) : ''
    const finalCheckpointId = this.#threadLog.state.row.head?.id ?? ''
    const value = { ...blameless, runId: run.runId, atMs: this.#nowMs, status, errorJson,
      interruptsJson, waiting, finalCheckpointId, owesWebhook: plan.webhook !== undefined }
    const ended = endedRun(run, value, seq)
    const waited = this.#waiters.has(run.runId)
    const known = waited ? values ?? valuesAtHand(this.#context, ended) : undefined
    const durable = this.#threadLog.write([{ $case: 'runEnded', value }])
    if (error) logFailure(this.#context, run, error.error, at)
    if (error) this.#feeds.publish(run.runId, durable, [errorEntry(errorJson, seq)])
    const followed = this.#feeds.end(run.runId, durable)
    const answered = durable.then(() => (waited ? this.#resultOf(ended, known) : '{}'))
    this.#waiters.answer(run.runId, answered)
    this.#threadLog.forgetExecution()
    if (plan.webhook !== undefined) this.#context.notify({ type: 'owed' })
    this.#retention.ended(run, answered, waited || followed)
    if (plan.temporary) durable.then(() => this.#threadLog.release(), () => {})
  }

  /** After loading: it is unknown whether any client got the end of a stateless run. */
  retain(): void {
    this.#retention.begin()
  }

  /** Ends runs; `note` is written with that. Throws `not_found` if a rollback drops `fork`. */
  async #cut(runs: readonly RunRow[], action: 'interrupt' | 'rollback',
    { note = [], fork }: { note?: readonly RecordOf[]; fork?: string | null | undefined } =
      {}): Promise<void> {
    // Runs that were not started have nothing to roll back.
    const started = action === 'rollback' ? runs.find((run) => run.started) : undefined
    const rollback = started && await rollbackOf(started, this.#threadLog, this.#context.ports)
    if (fork && rollback) requireOutlive(fork, rollback)
    if (runs.some(({ runId }) => runId === this.#execution?.run.runId)) this.#abort()
    if (note.length > 0) void this.#threadLog.write(note)
    if (action === 'rollback') return this.#takeBack(runs, rollback)
    for (const run of runs) this.#finish(run, { status: 'interrupted' })
  }

  #takeBack(runs: readonly RunRow[], rollback: Rollback | undefined): void {
    void this.#threadLog.write(takenBack(runs, rollback, this.#nowMs))
    if (rollback) {
      this.#threadLog.dropPlaces(rollback.places)
      this.#threadLog.forgetExecution()
    }
    for (const run of runs) this.#notifyRolledBack(run)
  }

  #notifyRolledBack(run: RunRow): void {
    const { durable, position: { seq } } = this.#threadLog
    this.#feeds.publish(run.runId, durable, [errorEntry(rolledBack, seq)])
    void this.#feeds.end(run.runId, durable)
    this.#waiters.answer(run.runId, durable.then(() => errorResult(rolledBack)))
    if (planOf(run).temporary) this.#retention.begin(durable)
  }

  /** Ends the execution without waiting for user code. */
  #abort(): void {
    if (this.#execution) this.#context.ports.host.abort(this.#execution.id)
    this.#drop()
  }

  #drop(): void {
    this.#execution?.close()
    this.#execution = undefined
  }

  #current(executionId: number): RunExecution | undefined {
    return this.#execution?.id === executionId ? this.#execution : undefined
  }

  get #running(): RunRow | undefined {
    return this.#threadLog.state.runs.find(({ status }) => status === 'running')
  }

  #unfinished(runId: string): RunRow | undefined {
    return this.#threadLog.state.runs.find((run) => run.runId === runId)
  }

  /** For a run whose end is on disk. */
  #resultOf(run: RunRow, known?: JsonText): JsonText | Promise<JsonText> {
    if (known !== undefined) return runResult(run, known)
    const isAtRest = () => this.#execution === undefined
    return valuesOf(this.#context, run, isAtRest).then((values) => runResult(run, values))
  }
}
