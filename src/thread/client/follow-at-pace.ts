/**
 * Follows at the pace of a listener. Another member sends without waiting for it, and what comes
 * must not fill the memory here: beyond a bound the follow ends as `lagged`, once the listener has
 * taken what waits. It is to be followed again then, behind the last event.
 */

import type { FeedEnd, FeedEvent, FeedListener } from '../model/thread-client.ts'

/** Characters of events that may wait for one listener. */
const waitingMax = 256 * 1024

/** As `follow`, with a listener that waits until the given one takes more. */
export async function followAtPace(listener: FeedListener,
  follow: (listener: FeedListener) => Promise<() => void>): Promise<() => void> {
  const paced = new PacedListener(listener)
  paced.begun(await follow(paced))
  return () => paced.stop()
}

class PacedListener implements FeedListener {
  readonly #listener: FeedListener
  #waiting: (readonly FeedEvent[])[] = []
  #characters = 0
  /** Resolves when nothing waits any more; undefined if that is so now. */
  #passing: Promise<void> | undefined
  /** End of the follow, to be passed on when no more events wait. */
  #end: FeedEnd | undefined
  #stopped = false
  #stopFollow = () => {}

  constructor(listener: FeedListener) {
    this.#listener = listener
  }

  begun(stopFollow: () => void): void {
    if (this.#stopped || this.#end === 'lagged') stopFollow()
    else this.#stopFollow = stopFollow
  }

  stop(): void {
    this.#stopped = true
    this.#waiting = []
    this.#stopFollow()
  }

  events(batch: readonly FeedEvent[]): void {
    if (this.#stopped || this.#end !== undefined) return
    const ready = this.#passing ?? this.#listener.ready?.()
    if (!ready) return this.#listener.events(batch)
    this.#waiting.push(batch)
    this.#characters += charactersOf(batch)
    this.#passing ??= this.#pass(ready)
    if (this.#characters <= waitingMax) return
    this.#end = 'lagged'
    this.#stopFollow()
  }

  ready(): Promise<void> | undefined {
    return this.#passing ?? this.#listener.ready?.()
  }

  ended(how: FeedEnd): void {
    if (this.#stopped || this.#end !== undefined) return
    this.#end = how
    if (this.#passing === undefined) this.#listener.ended(how)
  }

  /** Passes on what waits, whenever the listener is ready. */
  async #pass(ready: Promise<void>): Promise<void> {
    try {
      let until: Promise<void> | undefined = ready
      for (;;) {
        await until
        const batch = this.#waiting.shift()
        if (this.#stopped || batch === undefined) break
        this.#characters -= charactersOf(batch)
        this.#listener.events(batch)
        until = this.#listener.ready?.()
      }
    } catch {
      this.#waiting = []
      this.#end = 'lost'
      this.#stopFollow()
    }
    this.#passing = undefined
    if (!this.#stopped && this.#end !== undefined) this.#listener.ended(this.#end)
  }
}

function charactersOf(batch: readonly FeedEvent[]): number {
  return batch.reduce((sum, { json }) => sum + json.length, 0)
}
