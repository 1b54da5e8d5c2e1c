/** Keeps the events of a thread back until it is known whether its follower may see the thread. */

import type { ThreadEvent, ThreadEventListener, ThreadFollowEnd } from '../../thread/index.ts'

/** Events that wait for that answer. The thread was made this moment: there are few. */
const waitingMax = 10_000

/** A listener to a thread that was not there when it began. */
export class LateListener implements ThreadEventListener {
  readonly #listener: ThreadEventListener
  readonly #sees: () => Promise<boolean | undefined>
  #state: 'waiting' | 'asking' | 'shown' | 'hidden' = 'waiting'
  #early: ThreadEvent[] = []

  constructor(listener: ThreadEventListener, sees: () => Promise<boolean | undefined>) {
    this.#listener = listener
    this.#sees = sees
  }

  events(batch: readonly ThreadEvent[]): void {
    if (this.#state === 'hidden') return
    if (this.#state === 'shown') return this.#listener.events(batch)
    this.#early.push(...batch)
    if (this.#early.length > waitingMax) return this.#lose()
    if (this.#state === 'waiting') void this.#look()
  }

  ready(): Promise<void> | undefined {
    return this.#state === 'shown' ? this.#listener.ready?.() : undefined
  }

  ended(how: ThreadFollowEnd): void {
    if (this.#state !== 'hidden') this.#listener.ended(how)
  }

  /** A thread that cannot be read now is checked again when its follower comes back. */
  async #look(): Promise<void> {
    this.#state = 'asking'
    const seen = await this.#sees().catch(() => undefined)
    // Too many events came while the thread was read, and the follow has ended.
    if (this.#state !== 'asking') return
    // A follower that comes back gets the error for a thread that it does not see.
    if (seen !== true) return this.#lose()
    this.#state = 'shown'
    const early = this.#early
    this.#early = []
    if (early.length > 0) this.#listener.events(early)
  }

  #lose(): void {
    this.#early = []
    this.#state = 'hidden'
    this.#listener.ended('lost')
  }
}
