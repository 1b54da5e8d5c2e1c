/** Filters for the events of a thread that a subscription gets. Pure. */

import type { ThreadEvent } from '../../thread/index.ts'
import type { EventFilter } from '../../api/index.ts'
import { prefixTest } from './namespace-prefixes.ts'

/** Characters that filters may have as JSON: they are held as long as their connection. */
export const filterCharactersMax = 128 * 1024

/** True for an event that the filter lets through. */
export type EventTest = (event: ThreadEvent) => boolean

/** The channels by which clients wait for the ends of runs. */
const endChannels: ReadonlySet<string> = new Set(['lifecycle', 'input'])

/**
 * True for a stream of what a run does. Clients end it at the first end of a run that they see; a
 * stream of ends alone is that of a client that knows whose each is.
 */
export function asksForMoreThanEnds({ channels }: EventFilter): boolean {
  return channels.some((channel) => !endChannels.has(channel))
}

/** Makes the test of a filter. */
export function eventTest({ channels, namespaces, depth, since }: EventFilter): EventTest {
  const names = new Set(channels)
  const isNamed = channels.some((channel) => channel.startsWith('custom:'))
  const isNear = namespaces?.length ? prefixTest(namespaces, depth ?? Infinity) : () => true
  const after = since ?? -1
  return (event) =>
    event.seq > after && isInChannel(event, names, isNamed) && isNear(event.namespace)
}

/** An id as the frames of a stream have it: the number of the event, perhaps after other parts. */
const eventId = /^(?:synth:[^:]{1,100}:)?(?<seq>\d{1,15})$/

/**
 * The filter of a reader that comes back: only what comes after the last event that it saw. An id
 * that is none of ours changes nothing.
 */
export function resumed(filter: EventFilter, lastEventId: string | undefined): EventFilter {
  const seen = eventId.exec(lastEventId ?? '')?.groups!['seq']
  if (seen === undefined) return filter
  return { ...filter, since: Math.max(filter.since ?? -1, Number(seen)) }
}

/** The channel `custom` gets every custom event, `custom:<name>` those with that name. */
function isInChannel(event: ThreadEvent, channels: ReadonlySet<string>, isNamed: boolean): boolean {
  const { method } = event
  switch (method) {
    case 'input.requested':
    case 'input.answered':
      return channels.has('input')
    case 'custom':
      return channels.has('custom') || (isNamed && channels.has(channelOf(event)))
    default:
      return channels.has(method)
  }
}

/** The channels of named custom events: a socket may have many filters, and the data be long. */
const channelsByEvent = new WeakMap<ThreadEvent, string>()

/** `custom` for an event without a name. */
function channelOf(event: ThreadEvent): string {
  let channel = channelsByEvent.get(event)
  if (channel === undefined) {
    const { name } = (JSON.parse(event.data) ?? {}) as { readonly name?: unknown }
    channel = typeof name === 'string' ? `custom:${name}` : 'custom'
    channelsByEvent.set(event, channel)
  }
  return channel
}
