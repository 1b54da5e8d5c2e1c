/** Details of an event of a stream, for lists and filters. Pure. */

import { addressFor } from '../../api/address.ts'
import type { StreamEvent } from '../../api/event-stream.ts'
import { isObject } from '../../json/is-object.ts'
import { jsonOrText } from '../../json/json-text.ts'

/** An event with its kind, its nodes and its size. */
export interface ReadEvent {
  readonly event: StreamEvent
  /** `values`, `updates`, `messages`, `tasks`, `custom`, `metadata`, `error` and others. */
  readonly mode: string
  /** Names of the nodes whose subgraphs it came from, the outermost first. */
  readonly namespace: readonly string[]
  /** The node that it is about, as ids in the picture of the graph; empty for none. */
  readonly nodes: readonly string[]
  readonly bytes: number
}

const known = new WeakMap<StreamEvent, ReadEvent>()

/** Reads an event, and keeps the result as long as the event. */
export function readEvent(event: StreamEvent): ReadEvent {
  const kept = known.get(event)
  if (kept !== undefined) return kept
  const [mode = '', ...parts] = event.event.split('|')
  const namespace = parts.map((part) => part.split(':')[0]!)
  const read = { event, mode, namespace, bytes: bytesOf(event.text),
    nodes: nodesOf(mode, event.text).map((node) => placeOf(mode, namespace, node)) }
  known.set(event, read)
  return read
}

/** The id of a node in the picture. The namespace of a piece of a message ends with its node. */
const placeOf = (mode: string, namespace: readonly string[], node: string): string =>
  (mode.startsWith('messages') && namespace.at(-1) === node ? namespace : [...namespace, node])
    .join(':')

/** Origin of an event, in words: its node, else the subgraph; empty for neither. */
export const placeWords = ({ nodes, namespace }: ReadEvent): string =>
  (nodes.length > 0 ? nodes.join(', ') : namespace.join(':')).replaceAll(':', ' › ')

/** The data of an event: JSON, or the text if it is none. */
export const dataOf = (event: StreamEvent): unknown => jsonOrText(event.text)

/** Larger data are not read only to find the node in them. */
const longestRead = 200_000

function nodesOf(mode: string, text: string): readonly string[] {
  if (text.length > longestRead) return []
  const data = mode === 'values' ? undefined : jsonOrText(text)
  if (mode === 'updates') {
    return isObject(data) ? Object.keys(data).filter((key) => !key.startsWith('__')) : []
  }
  // Pieces of messages come with what is known of them.
  const details = Array.isArray(data) ? data[1] as unknown : data
  if (!isObject(details)) return []
  const node = details['langgraph_node'] ?? details['node'] ?? details['name']
  return typeof node === 'string' && mode !== 'error' ? [node] : []
}

const encoder = new TextEncoder()

const bytesOf = (text: string): number =>
  text.length > longestRead ? text.length : encoder.encode(text).length

/** Filter of the events that are shown. */
export interface EventFilter {
  readonly mode?: string | undefined
  /** The id of a node in the picture; those of its subgraph are shown too. */
  readonly node?: string | undefined
}

/** True if an event is to be shown. */
export function isShown({ mode, nodes, namespace }: ReadEvent, filter: EventFilter): boolean {
  if (filter.mode !== undefined && filter.mode !== mode) return false
  if (filter.node === undefined) return true
  const place = namespace.join(':')
  return [place, ...nodes].some((one) => one === filter.node || one.startsWith(`${filter.node}:`))
}

/** The run that sent the newest of the events, if one of them names it. */
export function runOf(events: readonly StreamEvent[]): string | undefined {
  const named = events.findLast(({ event }) => event === 'metadata')
  const data = named === undefined ? undefined : dataOf(named)
  const id = isObject(data) ? data['run_id'] : undefined
  return typeof id === 'string' ? id : undefined
}

/** One line of JSON for each event, as it is kept in a file. */
export const linesOf = (events: readonly StreamEvent[], beganMs: number): string =>
  events.map((event) =>
    `${
      JSON.stringify({ ms: Math.round(event.atMs - beganMs), id: event.id, event: event.event,
        data: dataOf(event) })
    }\n`
  ).join('')

/** A command that asks for the events of a run again. It names no key, only where one belongs. */
export function curlFor(apiUrl: string, threadId: string, runId: string | undefined,
  withKey: boolean): string {
  const path = runId === undefined
    ? addressFor('GET /threads/:thread_id/stream', { params: { thread_id: threadId } })
    : addressFor('GET /threads/:thread_id/runs/:run_id/stream', {
      params: { thread_id: threadId, run_id: runId },
    })
  return ['curl -N', ...withKey ? ['-H "x-api-key: $HEDDLE_API_KEY"'] : [], `-H 'last-event-id: -'`,
    `'${apiUrl}${path}'`].join(' ')
}
