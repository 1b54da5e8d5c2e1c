/**
 * The ends of runs as one client gets them. Clients in JavaScript show an error after `failed`, so
 * they get `interrupted` for a cancelled run. All other clients get `failed`, and `completed` for a
 * run that stopped at a breakpoint: the client for Python waits forever after `interrupted`, and no
 * header identifies it, because its HTTP client may be the caller's own.
 */

import type { IncomingHttpHeaders } from 'node:http'

import type { ThreadEvent } from '../../thread/index.ts'
import type { EventFilter } from '../../api/index.ts'
import { asksForMoreThanEnds } from './event-filter.ts'
import { isJavaScriptClient } from './javascript-client.ts'

/** The client at the other end of a stream or a socket. */
export interface EventReader {
  /** To be called with each filter that the client sends. */
  asks(filter: EventFilter): void
  /** The events as this client is to see them. */
  shown(batch: readonly ThreadEvent[]): readonly ThreadEvent[]
}

const asItIs: EventReader = { asks: () => {}, shown: (batch) => batch }

/** Creates the reader of a stream that a request with these headers opened at this time. */
export function eventReader(headers: IncomingHttpHeaders, openedAtMs: number): EventReader {
  return isJavaScriptClient(headers) ? asItIs : new EndReader(openedAtMs)
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

class EndReader implements EventReader {
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
