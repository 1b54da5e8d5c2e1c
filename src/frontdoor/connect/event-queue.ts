/** A queue of events, between what produces them and a caller that reads at its own pace. */

import { HeddleError } from '../../errors.ts'
import type { FeedEnd, ThreadFollowEnd } from '../../thread/index.ts'
import { backlog } from '../http/backlog.ts'
import { Backpressure } from '../http/backpressure.ts'
import { credentialLost } from '../http/caller.ts'
import type { TickerMember } from '../http/connections/connection-ticker.ts'

/** Options of a queue: a check of its caller, the size of events, and a callback. */
export interface EventQueueOptions<Event> {
  /** True while the caller may see events. */
  stillValid(): boolean
  /** Characters of the caller's backlog that an event takes. */
  charactersOf(event: Event): number
  /** Called when no events follow. */
  ended?(): void
}

/** Queues the events of one run or thread for one call. */
export class EventQueue<Event> implements TickerMember {
  readonly #options: EventQueueOptions<Event>
  #events: Event[] = []
  #characters = 0
  #end: 'over' | HeddleError | undefined
  #wake = () => {}
  readonly #backpressure = new Backpressure()
  /** Ticks in which nothing was taken from the queue. */
  #stillTicks = 0

  constructor(options: EventQueueOptions<Event>) {
    this.#options = options
  }

  events(batch: readonly Event[]): void {
    if (this.#end !== undefined || batch.length === 0) return
    if (this.#events.length >= backlog.events || this.#characters >= backlog.characters) {
      return this.#endWith(comeBack('You read too slowly'))
    }
    for (const event of batch) {
      this.#events.push(event)
      this.#characters += this.#options.charactersOf(event)
    }
    this.#wake()
  }

  ready(): Promise<void> | undefined {
    if (this.#end !== undefined || this.#events.length === 0) return undefined
    return this.#backpressure.wait()
  }

  /** `over`: the run has ended. `gone`: the thread was deleted. All else is an interruption. */
  ended(how: FeedEnd | ThreadFollowEnd): void {
    const isOver = how === 'over' || how === 'gone'
    this.#endWith(isOver ? 'over' : comeBack('The stream was interrupted'))
  }

  /** Checks the caller. Sends no heartbeats, as the protocols have their own pings. */
  tick(): void {
    if (!this.#options.stillValid()) return this.#endWith(credentialLost())
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

  /** Yields all events. Throws if the stream ends before the run or the thread does. */
  async *emitted(): AsyncGenerator<Event> {
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
    if (this.#end === undefined) this.#options.ended?.()
    this.#end ??= end
    this.#wake()
    this.#backpressure.notify()
  }
}

function comeBack(why: string): HeddleError {
  return new HeddleError('unavailable', `${why}: join the stream again behind the last event.`)
}
