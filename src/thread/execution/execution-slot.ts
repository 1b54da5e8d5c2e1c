/** The execution of a thread: there is one at most. */

import { resumePointOnDisk } from '../context/resume-point.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { Effect } from '../model/effect.ts'
import { noResumePoint } from '../model/run-request.ts'
import { RunExecution } from './run-execution.ts'
import type { RunFeeds } from './run-feeds.ts'

/** Where the execution of a thread runs, if there is one. */
export class ExecutionSlot {
  readonly #context: ThreadContext
  readonly #feeds: RunFeeds
  #current: RunExecution | undefined
  /** The thread moves to another owner: nothing more is started. */
  isResting = false

  constructor(context: ThreadContext, feeds: RunFeeds) {
    this.#context = context
    this.#feeds = feeds
  }

  /** Undefined if no run is executed. */
  get current(): RunExecution | undefined {
    return this.#current
  }

  /** Undefined if that execution is over: what it reports is not listened to. */
  get(executionId: number): RunExecution | undefined {
    return this.#current?.id === executionId ? this.#current : undefined
  }

  /** Begins at once, or when what it needs of the log was read. */
  execute({ run, resumes, woken }: Extract<Effect, { readonly kind: 'execute' }>): void {
    const { threadLog } = this.#context
    const { head } = threadLog.state.row
    const execution = this.#current = new RunExecution(this.#context, this.#feeds, run)
    const isKnown = !head || threadLog.recentView(head.id) !== undefined
    const onDisk = woken ? threadLog.position.seq - 1 : undefined
    if (resumes) void execution.beginWhenRead(() => resumePointOnDisk(run, this.#context, onDisk))
    else if (woken || !isKnown || run.strictResume)
      void execution.beginWhenRead(async () => noResumePoint)
    else execution.begin(noResumePoint)
  }

  /** Ends the execution without waiting for user code. */
  abort(): void {
    if (this.#current) this.#context.ports.host.abort(this.#current.id)
    this.close()
  }

  /** Expects nothing more of the execution. */
  close(): void {
    this.#current?.close()
    this.#current = undefined
  }
}
