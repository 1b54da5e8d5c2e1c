/**
 * Wakes actors of one kind that sleep until something of them is due. Only the store knows which
 * these are. This keeps just one time, before which none of them is due.
 */

import { Backoff, limitConcurrency } from '../../cluster/index.ts'
import type { ActorKey, Env } from '../../cluster/index.ts'
import { cronKindName } from '../crons/index.ts'
import type { DueCrons, DueThreads } from '../search/index.ts'

/** An actor that sleeps until a time. */
export interface DueActor {
  readonly key: ActorKey
  readonly atMs: number
  /** Its place among those that are due at the same time. */
  readonly no: number
}

/** Sleeping actors after the given place, at most `limit`, the one that is due first in front. */
export type DueActors = (after: Pick<DueActor, 'atMs' | 'no'>,
  limit: number) => Promise<readonly DueActor[]>

/** Actors to wake, and the way to wake them. */
export interface DueWakesOptions {
  readonly env: Env
  readonly due: DueActors
  /** Actors that are woken at once; 8 by default. */
  readonly atOnce?: number
  /** Wakes an actor. Throws if it cannot live now. Ignores an actor of another member. */
  wake(key: ActorKey): Promise<void>
}

/** Actors that are read at a time. */
const pageActors = 256

/** Pauses after a failure. They double each time, up to the longest. */
const pauses = { firstMs: 1_000, longestMs: 60_000 }

/** Longest time of a timer, as timers stand still while a machine sleeps. */
const longestTimerMs = 60_000

/** A place before all actors, as their times are later. */
const fromTheFirst = { atMs: 0, no: 0 }

/** Wakes due actors of one member. Belongs to its actors. */
export class DueWakes {
  readonly #options: DueWakesOptions
  readonly #inTurn: ReturnType<typeof limitConcurrency>
  #nextMs = Infinity
  readonly #backoff: Backoff
  #isLooking = false
  #isClosed = false
  #stopTimer = () => {}
  #stopRetry = () => {}

  constructor(options: DueWakesOptions) {
    this.#options = options
    this.#inTurn = limitConcurrency(options.atOnce ?? 8)
    this.#backoff = new Backoff(options.env, pauses)
  }

  /** Notes that an actor is due at this time. */
  note(atMs: number): void {
    if (atMs >= this.#nextMs) return
    this.#nextMs = atMs
    this.#setTimer()
  }

  close(): void {
    this.#isClosed = true
    this.#stopTimer()
    this.#stopRetry()
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
      env.log.warn('Actors that are due cannot be woken; they are tried again.', {
        error: outcome.failed,
      })
      // Perhaps there was no room for more of them at once.
      if (outcome.woken > 0) this.#backoff.reset()
      // By a timer, and not by a time: the clock may be ahead, and go back before that has come.
      this.#stopRetry()
      this.#stopRetry = env.after(this.#backoff.nextMs(), () => this.note(0))
    } else this.#backoff.reset()
    this.#setTimer()
  }

  /** Wakes all due actors. Returns how many were woken, and why one of the others was not. */
  async #wakeAll(): Promise<{ readonly woken: number; readonly failed: unknown }> {
    const { env, due } = this.#options
    let [woken, failed]: [number, unknown] = [0, undefined]
    for (let place: Pick<DueActor, 'atMs' | 'no'> = fromTheFirst; !this.#isClosed;) {
      const page = await due(place, pageActors)
      const ready = page.filter(({ atMs }) => atMs <= env.nowMs())
      await Promise.all(ready.map(({ key }) =>
        this.#inTurn(() => this.#options.wake(key))
          .then(() => {
            woken++
          }, (error: unknown) => {
            failed = error
          })
      ))
      const next = page[ready.length]
      if (next !== undefined) this.note(next.atMs)
      if (ready.length < pageActors) break
      place = page.at(-1)!
    }
    return { woken, failed }
  }
}

/** Due threads, as actors that can be woken. */
export function dueThreadActors(due: DueThreads): DueActors {
  return async (after, limit) =>
    (await due(after, limit)).map(({ tenant, threadId: id, atMs, no }) => ({
      key: { kind: 'thread', tenant, id },
      atMs,
      no,
    }))
}

/** Due crons, as actors that can be woken. */
export function dueCronActors(due: DueCrons, env: Pick<Env, 'nowMs'>): DueActors {
  return async (after, limit) =>
    (await due(after, limit, env.nowMs())).map(({ tenant, cronId: id, atMs, no }) => ({
      key: { kind: cronKindName, tenant, id },
      atMs,
      no,
    }))
}
