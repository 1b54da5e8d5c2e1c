/**
 * Follows a run through changes of its owner: for who listens it is one follow.
 *
 *   1. A follow that is lost is followed by the next, from the last event that was told.
 *   2. Every event is told once, in order, whatever two owners tell of it.
 *   3. Where no owner can be followed for a while, it is lost after all, and the log says why.
 *      Where the run is gone, it is over.
 *   4. Who asks for a run that may not be there is told at once that it cannot be followed.
 */

import { atLatest } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'
import type { FeedEvent, FeedListener } from './client.ts'
import { isAfter, placeOf } from './event-place.ts'

export interface SteadyFollowOptions {
  readonly env: Pick<Env, 'after' | 'monotonicMs' | 'log'>
  readonly runId: string
  /** The run is known to be there: a follow that fails at the start is one that is lost. */
  readonly made: boolean
  /** The last event that was seen; null for none. */
  readonly after: string | null
  readonly listener: FeedListener
  /** Begins to tell what comes after an event. The result stops that. */
  follow(after: string | null, listener: FeedListener): Promise<() => void>
}

/** How long an owner is looked for, beside what one look may take: who listens gains by waiting. */
const patienceMs = 60_000

const againMs = 250

/** A follow of this length did not fail at once. */
const lastingMs = 1_000

/** Throws what the first follow throws, unless the next one may do better. The result stops it. */
export async function followSteadily(options: SteadyFollowOptions): Promise<() => void> {
  const follow = new SteadyFollow(options)
  await follow.begin()
  return () => follow.stop()
}

class SteadyFollow {
  readonly #options: SteadyFollowOptions
  /** The last event that was told. */
  #last: string | null
  /** Follows that were begun: the newest one alone is listened to. */
  #follows = 0
  /** The newest has told something, so that its loss is a new one. */
  #fruitful = true
  /** Since when the newest is under way: so is the loss of one that lasted. */
  #sinceMs = Infinity
  #untilMs = 0
  #over = false
  #stopFollow = () => {}
  readonly #stopped = Promise.withResolvers<void>()

  constructor(options: SteadyFollowOptions) {
    this.#options = options
    this.#last = options.after
  }

  async begin(): Promise<void> {
    try {
      await this.#follow()
    } catch (error) {
      // Who was told something knows as well that the run is there.
      const isThere = this.#options.made || this.#last !== this.#options.after
      if (isThere && HeddleError.from(error).retry !== 'no') return void this.#followAgain(error)
      this.stop()
      throw error
    }
  }

  stop(): void {
    this.#over = true
    this.#stopFollow()
    this.#stopped.resolve()
  }

  async #follow(): Promise<void> {
    const mine = ++this.#follows
    const current = () => !this.#over && mine === this.#follows
    this.#sinceMs = Infinity
    const followed = this.#options.follow(this.#last, {
      events: (batch) => { if (current()) this.#tell(batch) },
      ready: () => (current() ? this.#options.listener.ready?.() : undefined),
      ended: (how) => {
        if (!current()) return
        if (how !== 'lost' && how !== 'unread') return this.#end(how)
        // Nothing of it is listened to any more.
        this.#follows++
        if (how === 'unread') this.#sinceMs = Infinity
        void this.#followAgain(new HeddleError('unavailable',
          how === 'lost' ? 'It was lost.' : 'What it told before cannot be read.'))
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

  #tell(batch: readonly FeedEvent[]): void {
    const last = placeOf(this.#last)
    const events = batch.filter(({ id }) => isAfter(placeOf(id), last))
    if (events.length === 0) return
    this.#options.listener.events(events)
    this.#last = events.at(-1)!.id
    this.#fruitful = true
  }

  async #followAgain(reason: unknown): Promise<void> {
    const { env } = this.#options
    const nowMs = env.monotonicMs()
    // What tells nothing and is lost at once would keep everybody busy.
    let atOnce = this.#fruitful || nowMs - this.#sinceMs >= lastingMs
    if (atOnce) this.#untilMs = nowMs + patienceMs
    this.#fruitful = false
    for (let error = reason; ; atOnce = false) {
      const late = env.monotonicMs() >= this.#untilMs
      const { code, retry } = HeddleError.from(error)
      // It was rolled back or removed meanwhile: that ends it for whoever had an owner, too.
      if (code === 'not_found') return this.#end('over')
      if (late || retry === 'no') return this.#lose(error)
      if (!atOnce) await atLatest(env, againMs, this.#stopped.promise)
      if (this.#over) return
      try {
        return await this.#follow()
      } catch (refusal) {
        error = refusal
      }
    }
  }

  #lose(error: unknown): void {
    const { env: { log }, runId } = this.#options
    if (!this.#over) log.warn('A run that somebody reads cannot be followed.', { runId, error })
    this.#end('lost')
  }

  #end(how: 'over' | 'lagged' | 'lost'): void {
    if (this.#over) return
    this.#over = true
    this.#options.listener.ended(how)
  }
}
