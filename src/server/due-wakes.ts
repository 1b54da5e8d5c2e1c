/**
 * Wakes threads that sleep until one of their runs is due. Only the store knows which threads these
 * are. This keeps just one time, before which none of them is due.
 */

import { Backoff, limitConcurrency } from '../../cluster/index.ts'
import type { ActorKey, Env } from '../../cluster/index.ts'
import type { DueThread, DueThreads } from '../search/index.ts'

/** What is woken, and how. */
export interface DueWakesOptions {
  readonly env: Env
  readonly due: DueThreads
  /** Throws if the actor cannot live now. Does nothing for an actor of another member. */
  wake(key: ActorKey): Promise<void>
}

/** Threads that are read at a time, and threads that are woken at once. */
const [pageThreads, wokenAtOnce] = [256, 8]

/** Pauses after a failure. They double each time, up to the longest. */
const pauses = { firstMs: 1_000, longestMs: 60_000 }

/** Longest time of a timer, as timers stand still while a machine sleeps. */
const longestTimerMs = 60_000

/** A place before all threads, as times of runs are later. */
const fromTheFirst = { atMs: 0, no: 0 }

/** Wakes due threads of one member. Belongs to its actors. */
export class DueWakes {
  readonly #options: DueWakesOptions
  readonly #inTurn = limitConcurrency(wokenAtOnce)
  #nextMs = Infinity
  readonly #backoff: Backoff
  #isLooking = false
  #isClosed = false
  #stopTimer = () => {}

  constructor(options: DueWakesOptions) {
    this.#options = options
    this.#backoff = new Backoff(options.env, pauses)
  }

  /** Notes that some thread is due by then. */
  note(atMs: number): void {
    if (atMs >= this.#nextMs) return
    this.#nextMs = atMs
    this.#setTimer()
  }

  close(): void {
    this.#isClosed = true
    this.#stopTimer()
  }

  #setTimer(): void {
    const { env } = this.#options
    this.#stopTimer()
    if (this.#isClosed || this.#isLooking || this.#nextMs === Infinity) return
    const ms = Math.min(longestTimerMs, Math.max(0, this.#nextMs - env.nowMs()))
    this.#stopTimer = env.after(ms, () => {
      if (env.nowMs() < this.#nextMs) this.#setTimer()
      else void this.#look()
    })
  }

  async #look(): Promise<void> {
    const { env } = this.#options
    this.#isLooking = true
    this.#nextMs = Infinity
    const outcome = await this.#wakeAll().catch((error: unknown) => ({ woken: 0, failed: error }))
    this.#isLooking = false
    if (outcome.failed !== undefined && !this.#isClosed) {
      env.log.warn('Threads whose runs are due cannot be woken; they are tried again.', {
        error: outcome.failed,
      })
      // Perhaps there was no room for more of them at once.
      if (outcome.woken > 0) this.#backoff.reset()
      this.note(env.nowMs() + this.#backoff.nextMs())
    } else this.#backoff.reset()
    this.#setTimer()
  }

  /** Wakes all due threads. Returns how many were woken, and why one of the others was not. */
  async #wakeAll(): Promise<{ readonly woken: number; readonly failed: unknown }> {
    const { env, due } = this.#options
    let [woken, failed]: [number, unknown] = [0, undefined]
    for (let place: Pick<DueThread, 'atMs' | 'no'> = fromTheFirst; !this.#isClosed;) {
      const page = await due(place, pageThreads)
      const ready = page.filter(({ atMs }) => atMs <= env.nowMs())
      await Promise.all(ready.map((thread) =>
        this.#inTurn(() => this.#wake(thread))
          .then(() => {
            woken++
          }, (error: unknown) => {
            failed = error
          })
      ))
      const next = page[ready.length]
      if (next !== undefined) this.note(next.atMs)
      if (ready.length < pageThreads) break
      place = page.at(-1)!
    }
    return { woken, failed }
  }

  #wake({ tenant, threadId: id }: DueThread): Promise<void> {
    return this.#options.wake({ kind: 'thread', tenant, id })
  }
}
