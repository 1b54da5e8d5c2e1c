/**
 * The ends of runs as one client gets them. Clients for Python take `completed` and `failed` alone
 * for the end of a run, and wait for ever after `interrupted`. So a cancelled run is `failed` for
 * them, and one that stopped at a breakpoint `completed`.
 */

import type { ThreadEvent } from '../../thread/index.ts'
import type { EventFilter } from '../../api/index.ts'
import { asksForMoreThanEnds } from './event-filter.ts'

/** The client at the other end of a stream or a socket. */
export interface EventReader {
  /** To be called with each filter that the client sends. */
  asks(filter: EventFilter): void
  /** The events as this client is to see them. */
  shown(batch: readonly ThreadEvent[]): readonly ThreadEvent[]
}

/** The client's library says its name over HTTP; over WebSocket, its library for these does. */
const isPython = /^(?:langgraph-sdk-py\/|Python\/\S+ websockets\/)/

const asItIs: EventReader = { asks: () => {}, shown: (batch) => batch }

/** The reader of a stream that was opened at this time. */
export function eventReader(userAgent: string | undefined, openedAtMs: number): EventReader {
  return isPython.test(userAgent ?? '') ? new PythonReader(openedAtMs) : asItIs
}

/**
 * The errors of runs that were cancelled, by the reason in their last event. The other reasons say
 * that another run took the place of this one: the client waits for the end of that.
 */
const errors: Readonly<Record<string, string>> = {
  cancelled: 'The run was cancelled.',
  disconnected: 'The run was cancelled: the client that it ran for has left.',
  assistant_deleted: 'The run was cancelled: its assistant was deleted.',
  restored: 'The run was cancelled: the data comes from a backup, in which it was unfinished.',
  rolled_back: 'The run was rolled back; what it wrote is gone.',
}

/** A run that was cancelled so shortly before may be one that this client has started. */
const recentMs = 1_000

class PythonReader implements EventReader {
  readonly #openedAtMs: number
  /** True if the client takes every end that it sees for that of its own run. */
  #takesAll = true
  /** True if the client has seen all that was before. */
  #comesBack = false

  constructor(openedAtMs: number) {
    this.#openedAtMs = openedAtMs
  }

  asks(filter: EventFilter): void {
    if (asksForMoreThanEnds(filter)) this.#takesAll = false
    if (filter.since !== undefined) this.#comesBack = true
  }

  shown(batch: readonly ThreadEvent[]): readonly ThreadEvent[] {
    if (!batch.some(isInterruptedRun)) return batch
    const lastStart = batch.findLastIndex((event) => isOfRoot(event, 'running'))
    return batch.map((event, at) =>
      isInterruptedRun(event)
        ? this.#end(event, at < lastStart)
        : event
    )
  }

  /** Another run has begun since then if it is `outdated`: the client waits for the end of that. */
  #end(event: ThreadEvent, outdated: boolean): ThreadEvent {
    const { reason = '', ...data } = JSON.parse(event.data) as { readonly reason?: string }
    if (reason === 'breakpoint') {
      return { ...event, data: JSON.stringify({ ...data, event: 'completed', reason }) }
    }
    const error = Object.hasOwn(errors, reason) ? errors[reason] : undefined
    if (error === undefined || outdated || !this.#isNews(event)) return event
    return { ...event, data: JSON.stringify({ ...data, event: 'failed', reason, error }) }
  }

  #isNews({ timestampMs }: ThreadEvent): boolean {
    return !this.#takesAll || this.#comesBack || timestampMs >= this.#openedAtMs - recentMs
  }
}

function isInterruptedRun(event: ThreadEvent): boolean {
  return isOfRoot(event, 'interrupted')
}

function isOfRoot({ method, namespace, data }: ThreadEvent, phase: string): boolean {
  return method === 'lifecycle' && namespace.length === 0 && data.startsWith(`{"event":"${phase}"`)
}
