/**
 * Follows a run, or a thread, through changes of its owner: for the listener it is one follow.
 *
 *   1. After a follow that is lost the next one begins, behind the last event that was sent.
 *   2. Every event is sent once, in order, even if two owners send it.
 *   3. If no owner can be followed for a while, the follow is lost, and the log says why.
 *      If the run is gone, it has ended.
 *   4. If the run may not exist, a first follow that fails is not tried again.
 */

import { atLatest, backoffMs } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { fromNow, isAfter, placeOf, start } from '../model/event-position.ts'
import type { FeedEvent, FeedListener } from '../model/thread-client.ts'

/** A follow, and how an owner is asked for it. */
export interface FollowAcrossOwnersOptions {
  readonly env: Pick<Env, 'after' | 'monotonicMs' | 'random' | 'log'>
  /** Names what is followed in the server's log. */
  readonly followed: Readonly<Record<string, string>>
  /** A follow that falls behind begins again behind the last event that was sent. */
  readonly catchesUp?: boolean
  /** The run is known to exist: a first follow that fails is tried again. */
  readonly made: boolean
  /** The last event that the listener has; null for none. */
  readonly after: string | null
  readonly listener: FeedListener
  /** Begins to send what comes after an event. The result stops that. */
  follow(after: string | null, listener: FeedListener): Promise<() => void>
}

/** Time for which an owner is looked for, apart from that of the last try. */
const patienceMs = 60_000

const pauses = { firstMs: 250, longestMs: 250 }

/** A follow that lasted this long did not fail at once. */
const lastingMs = 1_000

/** Throws what the first follow throws, unless trying again may help. The result stops it. */
export async function followSteadily(options: FollowAcrossOwnersOptions): Promise<() => void> {
  const follow = new FollowAcrossOwners(options)
  await follow.begin()
  return () => follow.stop()
}

class FollowAcrossOwners {
  readonly #options: FollowAcrossOwnersOptions
  /** The last event that was sent to the listener. */
  #last: string | null
  /** Count of the follows that were begun: only the newest is listened to. */
  #follows = 0
  /** The newest has sent something: its loss begins a new search. */
  #fruitful = true
  /** Time of the newest follow's begin: losing one that lasted begins a new search, too. */
  #sinceMs = Infinity
  #untilMs = 0
  #ended = false
  #stopFollow = () => {}
  readonly #stopped = Promise.withResolvers<void>()

  constructor(options: FollowAcrossOwnersOptions) {
    this.#options = options
    this.#last = options.after
  }

  async begin(): Promise<void> {
    try {
      await this.#follow()
    } catch (error) {
      // An event that was sent is proof that the run exists.
      const isThere = this.#options.made || this.#last !== this.#options.after
      if (isThere && HeddleError.from(error).retry !== 'no') return void this.#followAgain(error)
      this.stop()
      throw error
    }
  }

  stop(): void {
    this.#ended = true
    this.#stopFollow()
    this.#stopped.resolve()
  }

  async #follow(): Promise<void> {
    const number = ++this.#follows
    const current = () => !this.#ended && number === this.#follows
    this.#sinceMs = Infinity
    const followed = this.#options.follow(this.#last, {
      events: (batch) => {
        if (current()) this.#notify(batch)
      },
      ready: () => (current() ? this.#options.listener.ready?.() : undefined),
      ended: (how) => {
        if (!current()) return
        const catchesUp = how === 'lagged' && this.#options.catchesUp === true
        if (how !== 'lost' && how !== 'unread' && !catchesUp) return this.#end(how)
        // From now on its events are ignored.
        this.#follows++
        if (how === 'unread') this.#sinceMs = Infinity
        void this.#followAgain(
          new HeddleError('unavailable',
            how === 'unread' ? 'Its past events cannot be read.' : 'The follow was lost.'),
        )
      },
    })
    try {
      const stop = await followed
      if (!current()) return stop()
      this.#stopFollow = stop
      this.#sinceMs = this.#options.env.monotonicMs()
    } catch (error) {
      // The next one may be under way already.
      if (current()) throw error
    }
  }

  #notify(batch: readonly FeedEvent[]): void {
    const last = this.#last === fromNow ? start : placeOf(this.#last)
    const events = batch.filter(({ id }) => isAfter(placeOf(id), last))
    if (events.length === 0) return
    this.#options.listener.events(events)
    this.#last = events.at(-1)!.id
    this.#fruitful = true
  }

  async #followAgain(reason: unknown): Promise<void> {
    const { env } = this.#options
    const nowMs = env.monotonicMs()
    // Not at once after one that sent nothing and was lost at once: that would spin.
    let atOnce = this.#fruitful || nowMs - this.#sinceMs >= lastingMs
    if (atOnce) this.#untilMs = nowMs + patienceMs
    this.#fruitful = false
    for (let error = reason;; atOnce = false) {
      const late = env.monotonicMs() >= this.#untilMs
      const { code, retry } = HeddleError.from(error)
      // It was rolled back or deleted meanwhile: for other followers that is the end as well.
      if (code === 'not_found') return this.#end('over')
      if (late || retry === 'no') return this.#lose(error)
      if (!atOnce) await atLatest(env, backoffMs(pauses, 1, env.random()), this.#stopped.promise)
      if (this.#ended) return
      try {
        return await this.#follow()
      } catch (refusal) {
        error = refusal
      }
    }
  }

  #lose(error: unknown): void {
    const { env: { log }, followed } = this.#options
    if (!this.#ended) log.warn('What a client reads cannot be followed.', { ...followed, error })
    this.#end('lost')
  }

  #end(how: 'over' | 'lagged' | 'lost'): void {
    if (this.#ended) return
    this.#ended = true
    this.#options.listener.ended(how)
  }
}
