/** A queue of a run's events, between the feed and a caller that reads at its own pace. */

import { HeddleError } from '../../errors.ts'
import type { FeedEnd, FeedEvent, FeedListener } from '../../thread/index.ts'
import { backlog } from '../http/backlog.ts'
import { Backpressure } from '../http/backpressure.ts'
import { credentialLost } from '../http/caller.ts'
import type { TickerMember } from '../http/connection-ticker.ts'

/** Queues the events of one run for one call. */
export class EventQueue implements FeedListener, TickerMember {
  readonly #stillValid: () => boolean
  readonly #ended: () => void
  #events: FeedEvent[] = []
  #characters = 0
  #end: 'over' | HeddleError | undefined
  #wake = () => {}
  readonly #backpressure = new Backpressure()
  /** Ticks in which nothing was taken from the queue. */
  #stillTicks = 0

  /** `stillValid` is true while the caller may see events. `ended` is called when none follow. */
  constructor(stillValid: () => boolean, ended = () => {}) {
    this.#stillValid = stillValid
    this.#ended = ended
  }

  events(batch: readonly FeedEvent[]): void {
    if (this.#end !== undefined) return
    if (this.#events.length >= backlog.events || this.#characters >= backlog.characters) {
      return this.#endWith(comeBack('You read too slowly'))
    }
    for (const event of batch) {
      this.#events.push(event)
      this.#characters += event.json.length
    }
    this.#wake()
  }

  ready(): Promise<void> | undefined {
    if (this.#end !== undefined || this.#events.length === 0) return undefined
    return this.#backpressure.wait()
  }

  ended(how: FeedEnd): void {
    this.#endWith(how === 'over' ? 'over' : comeBack('The stream was interrupted'))
  }

  /** Checks the caller. Sends no heartbeats, as the protocols have their own pings. */
  tick(): void {
    if (!this.#stillValid()) return this.#endWith(credentialLost())
    if (this.#events.length === 0) return
    if (++this.#stillTicks >= backlog.ticks) this.#endWith(comeBack('You read too slowly'))
  }

  leave(): void {
    this.#endWith(comeBack('The server is closing'))
  }

  /** Drops everything: nobody listens any more. */
  abandon(): void {
    this.#events = []
    this.#endWith(new HeddleError('unavailable', 'The client went.'))
  }

  /** Yields all events. Throws if the stream ends before the run does. */
  async *emitted(): AsyncGenerator<FeedEvent> {
    for (;;) {
      const batch = this.#events
      this.#events = []
      this.#characters = 0
      this.#stillTicks = 0
      this.#backpressure.notify()
      yield* batch
      if (this.#events.length > 0) continue
      if (this.#end === 'over') return
      if (this.#end !== undefined) throw this.#end
      await new Promise<void>((resolve) => {
        this.#wake = resolve
      })
    }
  }

  #endWith(end: 'over' | HeddleError): void {
    if (this.#end === undefined) this.#ended()
    this.#end ??= end
    this.#wake()
    this.#backpressure.notify()
  }
}

function comeBack(why: string): HeddleError {
  return new HeddleError('unavailable', `${why}: join the stream again with the last event id.`)
}
