/** Keeps the thread of a stateless run until a client has got the run's end, or for a while. */

import type { RunRow } from '../../../proto/gen/storage/v1/row.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { planOf } from '../model/run-request.ts'
import type { RunDue } from '../model/thread-client.ts'
import { isBusy } from '../model/waiting-message.ts'

/** The retention of one thread, as a timer and two flags. */
export class RunRetention {
  readonly #context: ThreadContext
  #stopTimer: (() => void) | undefined
  /** The run that ended last, if it is nowhere else: its thread is kept back. */
  #ended: RunRow | undefined
  /** True if no client can come back to the run that ended last; null if that is not known. */
  #mayGo: boolean | null = null
  /** The due time that the run which ended last was made for; null if that is not known. */
  #due: RunDue | undefined | null = null
  /** Set while the cron is asked whether the due time of the run is settled. */
  #asking: object | undefined
  /** The time of the thread is up: it stays only for webhooks that are owed. */
  #isDue = false

  constructor(context: ThreadContext) {
    this.#context = context
  }

  /** True if the thread is deleted as soon as no webhook is owed. */
  get isDue(): boolean {
    return this.#isDue
  }

  /** `isDue`: its time is up, but webhooks are owed. */
  awaitWebhooks(isDue: boolean): void {
    this.#isDue = isDue
  }

  /** The run, if it is the one that ended last here and its thread was kept back. */
  over(runId: string): RunRow | undefined {
    return this.#ended?.runId === runId ? this.#ended : undefined
  }

  /** A follower has got the end of a run. */
  endSeen(): void {
    if (this.#mayGo === null) void this.#readMayGo().catch(() => {})
    else if (this.#mayGo) this.#expire()
  }

  /**
   * The run has ended when `answered` resolves; `isNoticed`: a client waits for that or follows.
   */
  ended(run: RunRow, answered: Promise<unknown>, isNoticed: boolean): void {
    const { temporary, due } = planOf(run)
    this.#ended = this.#context.threadLog.isHeldBack ? run : undefined
    this.#due = due
    this.#mayGo = false
    const mayGo = canGo(run)
    answered.then(() => {
      this.#mayGo = mayGo
      if (mayGo && !isNoticed && due === undefined) this.#leave()
    }, () => {})
    if (temporary) this.begin(isNoticed && mayGo ? answered : undefined)
  }

  /** Nobody waits for the run: its thread leaves the memory, and is loaded again to expire. */
  #leave(): void {
    const { tenant, threadId, sleep, ports: { expireAfter, limits } } = this.#context
    if (expireAfter?.(tenant, threadId, limits.retentionMs)) sleep(true)
  }

  /** The thread expires when `endSeen` resolves, or after a while. */
  begin(endSeen?: Promise<unknown>): void {
    const { env, limits } = this.#context.ports
    endSeen?.then(() => this.#expire(), () => {})
    this.#stopTimer?.()
    this.#stopTimer = env.after(limits.retentionMs, () => this.#expire())
  }

  /** The thread was loaded. It leaves again with the reply, if it was only asked for something. */
  resume(): void {
    const { tenant, threadId, sleep, ports: { expiresLater } } = this.#context
    if (expiresLater?.(tenant, threadId)) sleep(true)
    else this.begin()
  }

  stop(): void {
    this.#stopTimer?.()
    this.#asking = undefined
    this.#isDue = false
  }

  #expire(): void {
    const { notify } = this.#context
    if (this.#due === undefined) return notify({ type: 'expire' })
    const asking = this.#asking = {}
    void this.#isSettled().catch(() => false).then((isSettled) => {
      if (this.#asking !== asking) return
      if (isSettled) notify({ type: 'expire' })
      else this.begin()
    })
  }

  async #isSettled(): Promise<boolean> {
    const { tenant, ports: { isSettled } } = this.#context
    const due = this.#due === null ? await this.#readDue() : this.#due
    return due === undefined || (await isSettled?.(tenant, due) ?? true)
  }

  /** The run has ended before the thread was loaded. It has the id of the thread. */
  async #readDue(): Promise<RunDue | undefined> {
    const { tenant, threadId, ports: { runs } } = this.#context
    const run = await runs.get(tenant, threadId, threadId)
    return run && planOf(run).due
  }

  async #readMayGo(): Promise<void> {
    const { tenant, threadId, threadLog, ports: { runs } } = this.#context
    const { lastRunId = '', hidden } = threadLog.state.row
    const run = hidden && lastRunId !== '' && await runs.get(tenant, threadId, lastRunId)
    if (this.#mayGo !== null || !run || isBusy(threadLog.state)) return
    this.#mayGo = canGo(run)
    if (this.#mayGo) this.#expire()
  }
}

/** Its thread stays for a client that can come back with a key, an event id or an answer. */
function canGo(run: RunRow): boolean {
  const { temporary, resumable, keptMinutes } = planOf(run)
  return temporary && !resumable && keptMinutes === undefined && run.commandId === ''
}
