/** The execution of a thread: there is one at most. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import { resumePointOnDisk } from '../context/resume-point.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import type { Effect } from '../model/effect.ts'
import { noResumePoint, planOf } from '../model/run-request.ts'
import { RunExecution } from './run-execution.ts'
import type { RunFeeds } from './run-feeds.ts'
import type { ThreadFeed } from './thread-feed.ts'

/** The effect that starts an execution. With `stops`, that only adds its input to the state. */
type Starting = Omit<Extract<Effect, { readonly kind: 'execute' }>, 'kind'> & {
  readonly stops?: boolean
}

/** Place for the one execution of a thread. */
export class ExecutionSlot {
  readonly #context: ThreadContext
  readonly #feeds: RunFeeds
  readonly #threadFeed: ThreadFeed
  #current: RunExecution | undefined
  /** The thread moves to another owner: nothing more is started. */
  isResting = false
  /** The run that cannot take messages. It is not asked to stop for any again. */
  refusesMessages: string | undefined

  constructor(context: ThreadContext, feeds: RunFeeds, threadFeed: ThreadFeed) {
    this.#context = context
    this.#feeds = feeds
    this.#threadFeed = threadFeed
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
  execute({ run, resumes, woken, stoppedFor, stops }: Starting): void {
    const { threadLog } = this.#context
    const { head } = threadLog.state.row
    const feeds = { feeds: this.#feeds, threadFeed: this.#threadFeedFor(run) }
    if (run.revision !== undefined) this.#feeds.pin(run.runId, run.revision)
    const execution = this.#current = new RunExecution(this.#context, feeds, { run, stoppedFor,
      stops })
    const isKnown = !head || threadLog.recentView(head.id) !== undefined
    const onDisk = woken ? threadLog.position.seq - 1 : undefined
    if (resumes) void execution.beginWhenRead(() => resumePointOnDisk(run, this.#context, onDisk))
    else if (woken || !isKnown || run.strictResume)
      void execution.beginWhenRead(async () => noResumePoint)
    else execution.begin(noResumePoint)
  }

  /** The feed of the thread, if the run wants events of the thread or a client follows them. */
  #threadFeedFor(run: RunRow): ThreadFeed | undefined {
    const feed = this.#threadFeed
    feed.prepare(planOf(run).threadEvents === true)
    return feed.isOpen ? feed : undefined
  }

  /** Ends the execution without waiting for user code. */
  abort(): void {
    this.#current?.abort()
    this.close()
  }

  /** Expects nothing more of the execution. */
  close(): void {
    this.#current?.close()
    this.#current = undefined
  }
}
