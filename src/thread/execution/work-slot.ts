/** The work on a thread: the execution of a run, or an edit of the state. There is one at most. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'
import { resumePointOnDisk } from '../context/resume-point.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { Edit } from '../decide/state-edit.ts'
import type { Effect } from '../model/effect.ts'
import { noResumePoint, planOf } from '../model/run-request.ts'
import { RunExecution } from './run-execution.ts'
import type { Started } from './run-execution.ts'
import type { RunFeeds } from './run-feeds.ts'
import { lengthOf, StateEdit } from './state-edit.ts'
import type { RequestedEdit } from './state-edit.ts'
import type { ThreadFeed } from './thread-feed.ts'

/** The effect that starts an execution. With `stops`, that only adds its input to the state. */
type Starting = Omit<Extract<Effect, { readonly kind: 'execute' }>, 'kind'> & {
  readonly stops?: boolean
}

/** Place for the work on a thread. Reports of earlier work are ignored because of their number. */
export class WorkSlot {
  readonly #context: ThreadContext
  readonly #feeds: RunFeeds
  readonly #threadFeed: ThreadFeed
  #current: RunExecution | StateEdit | undefined
  /** Start of the time limit of the newest attempt. */
  #limit: Pick<Started, 'beganMs'> & Pick<RunRow, 'runId' | 'attempt'> | undefined
  /** Edits behind the one under way. */
  readonly #edits: RequestedEdit[] = []
  /** The thread moves to another owner: no more runs are started. */
  isResting = false
  /** The run that cannot take messages. It does not stop for a message again. */
  refusesMessages: string | undefined

  constructor(context: ThreadContext, feeds: RunFeeds, threadFeed: ThreadFeed) {
    this.#context = context
    this.#feeds = feeds
    this.#threadFeed = threadFeed
  }

  get current(): RunExecution | StateEdit | undefined {
    return this.#current
  }

  /** Undefined if no run is executed. */
  get execution(): RunExecution | undefined {
    return this.#current?.kind === 'run' ? this.#current : undefined
  }

  get isEditing(): boolean {
    return this.#current?.kind === 'edit'
  }

  /** Undefined if the work with this number has ended. */
  get(id: number): RunExecution | StateEdit | undefined {
    return this.#current?.id === id ? this.#current : undefined
  }

  /** Starts the execution. If it needs rows of the log, it starts after these were read. */
  execute({ run, resumes, woken, stoppedFor, stops }: Starting): void {
    const { threadLog } = this.#context
    const { head } = threadLog.state.row
    const feeds = { feeds: this.#feeds, threadFeed: this.#threadFeedFor(run) }
    if (run.revision !== undefined) this.#feeds.pin(run.runId, run.revision)
    const beganMs = this.#beganMs(run)
    const execution = new RunExecution(this.#context, feeds, { run, beganMs, stoppedFor, stops })
    this.#current = execution
    const isKnown = !head || threadLog.recentView(head.id) !== undefined
    const onDisk = woken ? threadLog.position.seq - 1 : undefined
    if (resumes) void execution.beginWhenRead(() => resumePointOnDisk(run, this.#context, onDisk))
    else if (woken || !isKnown || run.strictResume)
      void execution.beginWhenRead(async () => noResumePoint)
    else execution.begin(noResumePoint)
  }

  /** An attempt that stops for messages, a revision or another owner has the rest of its time. */
  #beganMs({ runId, attempt, spentMs = 0 }: RunRow): number {
    if (this.#limit?.runId !== runId || this.#limit.attempt !== attempt) {
      this.#limit = { runId, attempt, beganMs: this.#context.ports.env.nowMs() - spentMs }
    }
    return this.#limit.beganMs
  }

  /** The feed of the thread, if the run wants events of the thread or a client follows them. */
  #threadFeedFor(run: RunRow): ThreadFeed | undefined {
    const feed = this.#threadFeed
    feed.prepare(planOf(run).threadEvents === true)
    return feed.isOpen ? feed : undefined
  }

  /**
   * Starts an edit when the work before it has ended. Resolves with the API's response when the
   * edit is on disk. Throws `full`.
   */
  edit(edit: Edit): Promise<JsonText> {
    const { ports: { limits: { pendingEdits } }, inputs } = this.#context
    if (this.#edits.length >= pendingEdits) {
      throw new HeddleError('full', 'Too many state updates wait on this thread; try again.')
    }
    inputs.requireLeft(this.#edits)
    const result = Promise.withResolvers<JsonText>()
    this.#edits.push({ edit, result })
    this.#next()
    return result.promise
  }

  /** The edit under way cannot be made. Its run, if any, does not stop for messages again. */
  refuseEdit({ edit: { taker } }: StateEdit, reason: HeddleError): void {
    if (taker) this.refusesMessages = taker.run.runId
    this.abort(reason)
  }

  /** Ends the work without waiting for user code. `reason`: the error for the caller of an edit. */
  abort(reason = new HeddleError('rejected', 'The run of the state update has ended.')): void {
    this.#current?.abort(reason)
    this.close()
  }

  /** Expects nothing more of the work. The next edit starts. */
  close(): void {
    this.#current?.close()
    this.#current = undefined
    this.#next()
  }

  /** The thread goes away: ends the work and refuses all edits. */
  release(reason: HeddleError): void {
    for (const { result } of this.#edits.splice(0)) result.reject(reason)
    this.abort(reason)
  }

  #next(): void {
    const next = this.#current ? undefined : this.#edits.shift()
    if (next) {
      const started = this.#current = new StateEdit(this.#context, next)
      started.begin()
    }
    const edits = this.#edits.map(({ edit }) => edit)
    if (this.#current?.kind === 'edit') edits.push(this.#current.edit)
    this.#context.inputs.hold(this.#edits, edits.reduce((sum, edit) => sum + lengthOf(edit), 0))
  }
}
