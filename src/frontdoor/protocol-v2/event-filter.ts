/** Which events of a thread a subscription gets. Pure. */

import type { ThreadEvent } from '../../thread/index.ts'
import type { EventFilter } from '../schema/protocol-v2.ts'

/** True for an event that the filter lets through. */
export type EventTest = (event: ThreadEvent) => boolean

/** Makes the test of a filter. */
export function eventTest({ channels, namespaces, depth, since }: EventFilter): EventTest {
  const names = new Set(channels)
  const isNamed = channels.some((channel) => channel.startsWith('custom:'))
  const prefixes = namespaces?.length ? namespaces : undefined
  const after = since ?? -1
  return (event) =>
    event.seq > after && isInChannel(event, names, isNamed) &&
    (prefixes === undefined ||
      prefixes.some((prefix) => isWithin(event.namespace, prefix, depth ?? Infinity)))
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

/** True for a namespace that begins with the prefix and goes at most `depth` levels on. */
function isWithin(namespace: readonly string[], prefix: readonly string[], depth: number): boolean {
  return prefix.length <= namespace.length && namespace.length - prefix.length <= depth &&
    prefix.every((segment, at) => isSegment(namespace[at]!, segment))
}

/** A segment without a colon also matches `name:<suffix>`: the suffix differs in each run. */
function isSegment(segment: string, wanted: string): boolean {
  if (segment === wanted) return true
  return segment.length > wanted.length && segment[wanted.length] === ':' &&
    segment.startsWith(wanted) && !wanted.includes(':')
}
