/** A queue of a run's events, between the feed and a caller that reads at its own pace. */

import { HeddleError } from '../../errors.ts'
import type { FeedEnd, FeedEvent, FeedListener } from '../../thread/index.ts'
import { backlog } from '../http/backlog.ts'
import { Readiness } from '../http/backpressure.ts'
import { standingLost } from '../http/caller.ts'
import type { PulseMember } from '../http/connection-ticker.ts'

export class EventQueue implements FeedListener, PulseMember {
  readonly #stands: () => boolean
  readonly #ended: () => void
  #events: FeedEvent[] = []
  #characters = 0
  #end: 'over' | HeddleError | undefined
  #wake = () => {}
  readonly #readiness = new Readiness()
  /** For how many ticks nobody has taken what waits. */
  #stillTicks = 0

  /** `stands` tells whether the caller may still see events; `ended`: none follow any more. */
  constructor(stands: () => boolean, ended = () => {}) {
    this.#stands = stands
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
    return this.#readiness.wait()
  }

  ended(how: FeedEnd): void {
    this.#endWith(how === 'over' ? 'over' : comeBack('The stream was interrupted'))
  }

  /** No heartbeats: the protocols have their own pings. */
  beat(): void {
    if (!this.#stands()) return this.#endWith(standingLost())
    if (this.#events.length === 0) return
    if (++this.#stillTicks >= backlog.ticks) this.#endWith(comeBack('You read too slowly'))
  }

  leave(): void {
    this.#endWith(comeBack('The server is closing'))
  }

  /** Nobody listens any more. */
  abandon(): void {
    this.#events = []
    this.#endWith(new HeddleError('unavailable', 'The client went.'))
  }

  /** All events; throws if the stream ends before the run does. */
  async* told(): AsyncGenerator<FeedEvent> {
    for (;;) {
      const batch = this.#events
      this.#events = []
      this.#characters = 0
      this.#stillTicks = 0
      this.#readiness.tell()
      yield* batch
      if (this.#events.length > 0) continue
      if (this.#end === 'over') return
      if (this.#end !== undefined) throw this.#end
      await new Promise<void>((resolve) => { this.#wake = resolve })
    }
  }

  #endWith(end: 'over' | HeddleError): void {
    if (this.#end === undefined) this.#ended()
    this.#end ??= end
    this.#wake()
    this.#readiness.tell()
  }
}

function comeBack(why: string): HeddleError {
  return new HeddleError('unavailable', `${why}: join the stream again with the last event id.`)
}
