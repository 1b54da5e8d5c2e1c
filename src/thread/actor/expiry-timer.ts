/** The timer of a thread with a time to live: says when the time has ended. */

import { expiryAtMs } from '../../search/index.ts'
import { cautiousNowMs } from '../context/thread-context.ts'
import type { ThreadContext } from '../context/thread-context.ts'
import { lookAgainMs } from '../decide/run-queue.ts'
import { isBusy } from '../model/waiting-message.ts'

/** Watches the thread as long as it is in memory. When it sleeps, it is woken in time. */
export class ExpiryTimer {
  readonly #context: ThreadContext
  #atMs = 0
  #stop: (() => void) | undefined

  constructor(context: ThreadContext) {
    this.#context = context
  }

  /** Time at which the thread is due; 0 for never, or as long as its present state forbids it. */
  get atMs(): number {
    const { state } = this.#context.threadLog
    return state.exists ? expiryAtMs(state.row, isBusy(state)) : 0
  }

  /** Call when the thread may have changed. */
  look(): void {
    const { atMs } = this
    if (atMs === this.#atMs) return
    this.stop()
    if (atMs === 0) return
    this.#atMs = atMs
    const { env, wakeAt } = this.#context.ports
    const nowMs = env.nowMs()
    wakeAt?.(atMs > nowMs ? atMs : nowMs + lookAgainMs)
    this.#set()
  }

  /** Looks again later: the thread was due, but something else came first. */
  again(): void {
    if (this.#atMs > 0) this.#setIn(lookAgainMs)
  }

  stop(): void {
    this.#stop?.()
    this.#stop = undefined
    this.#atMs = 0
  }

  #set(): void {
    const leftMs = this.#atMs - cautiousNowMs(this.#context)
    if (leftMs <= 0) this.#context.notify({ type: 'due' })
    else this.#setIn(Math.min(lookAgainMs, leftMs))
  }

  #setIn(ms: number): void {
    this.#stop?.()
    this.#stop = this.#context.ports.env.after(ms, () => this.#set())
  }
}
