/** The one timer of a thread's queue: wakes the thread when a run may start, or lets it sleep. */

import { dueAtMs } from '../../limits/index.ts'
import type { ThreadSetting } from '../context/thread-context.ts'
import { dozeMs, lookAgainMs } from '../decide/run-queue.ts'

export class RunTimer {
  readonly #setting: ThreadSetting
  #stop: (() => void) | undefined

  constructor(setting: ThreadSetting) {
    this.#setting = setting
  }

  get isSet(): boolean { return this.#stop !== undefined }

  /** Whether somebody else wakes the thread in time, whose runs all wait for theirs. */
  get mayDoze(): boolean {
    const { ports: { env, wakeAt }, ledger } = this.#setting
    return wakeAt !== undefined && dueAtMs(ledger.state.runs) > env.nowMs() + dozeMs
  }

  wakeIn(ms: number): void {
    const { ports: { env }, tell } = this.#setting
    this.stop()
    this.#stop = env.after(ms, () => tell({ type: 'wake' }))
  }

  /** Sleeps if nobody needs the thread. If it is needed now, it tries again at the next look. */
  waitUntil(atMs: number, isNeeded: boolean): void {
    const { ports: { env, wakeAt }, sleep } = this.#setting
    wakeAt?.(atMs)
    sleep()
    this.wakeIn(Math.min(atMs - env.nowMs(), isNeeded ? lookAgainMs : dozeMs))
  }

  stop(): void {
    this.#stop?.()
    this.#stop = undefined
  }
}
