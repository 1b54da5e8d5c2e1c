/** The one timer of a thread's queue: wakes the thread when a run may start, or lets it sleep. */

import { dueAtMs } from '../../limits/index.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { dozeMs, lookAgainMs } from '../decide/run-queue.ts'

/** Wakes the thread when its queue is to be looked at. */
export class RunTimer {
  readonly #context: ThreadContext
  #stop: (() => void) | undefined

  constructor(context: ThreadContext) {
    this.#context = context
  }

  get isSet(): boolean {
    return this.#stop !== undefined
  }

  /** True if the member wakes the thread in time, because all its runs are due later. */
  get mayDoze(): boolean {
    const { ports: { env, wakeAt }, threadLog } = this.#context
    return wakeAt !== undefined && dueAtMs(threadLog.state.runs) > env.nowMs() + dozeMs
  }

  wakeIn(ms: number): void {
    const { ports: { env }, notify } = this.#context
    this.stop()
    this.#stop = env.after(ms, () => notify({ type: 'wake' }))
  }

  /** Sleeps if the thread is not needed. If it is needed now, it tries again at the next look. */
  waitUntil(atMs: number, isNeeded: boolean): void {
    const { ports: { env, wakeAt }, sleep } = this.#context
    wakeAt?.(atMs)
    sleep()
    this.wakeIn(Math.min(atMs - env.nowMs(), isNeeded ? lookAgainMs : dozeMs))
  }

  stop(): void {
    this.#stop?.()
    this.#stop = undefined
  }
}
