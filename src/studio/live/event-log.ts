/** The raw events of the runs that this page followed, the newest 5 000. */

import type { StreamEvent } from '../api/event-stream.ts'

/** Events that are kept. A new object after each change. */
export interface EventLogState {
  readonly events: readonly StreamEvent[]
  /** Older ones that were left out. */
  readonly dropped: number
  /** When the run began, by the clock of the events. */
  readonly beganMs: number
}

const kept = 5_000

/** A log that components subscribe to. */
export class EventLog {
  #state: EventLogState = { events: [], dropped: 0, beganMs: 0 }
  readonly #listeners = new Set<() => void>()

  readonly subscribe = (listener: () => void): () => void => {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  readonly state = (): EventLogState => this.#state

  /** Adds events in one change: what came within one frame. */
  add(more: readonly StreamEvent[]): void {
    if (more.length === 0) return
    const { events, dropped, beganMs } = this.#state
    const all = [...events, ...more]
    const over = Math.max(0, all.length - kept)
    this.#state = { events: over === 0 ? all : all.slice(over), dropped: dropped + over,
      beganMs: events.length === 0 && dropped === 0 ? more[0]!.atMs : beganMs }
    for (const listener of this.#listeners) listener()
  }
}
