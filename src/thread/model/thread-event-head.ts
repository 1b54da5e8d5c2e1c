/** Events of a thread as its feed has them: who they are from stands in their name. */

import { placeOf } from './event-position.ts'
import type { FeedEvent } from './thread-client.ts'
import { threadSeqOf } from './thread-event.ts'
import type { ThreadEvent, ThreadEventMethod } from './thread-event.ts'

/** Head of an event of a thread: all but its place and its data. */
export interface ThreadEventHead {
  readonly method: ThreadEventMethod
  readonly runId: string
  readonly atMs: number
  readonly node?: string
  readonly namespace?: readonly string[]
}

/** The head of an event as its name in the feed. Names of nodes have no `|`. */
export function nameOfHead(
  { method, runId, atMs, node = '', namespace = [] }: ThreadEventHead,
): string {
  return [method, runId, atMs, node, ...namespace].join('|')
}

/** The same for an event that an execution made, whose name is `thread:<method>|<node>|…`. */
export function nameOfMade(name: string, runId: string, atMs: number): string {
  const from = name.indexOf(':') + 1
  const to = name.indexOf('|')
  return `${name.slice(from, to)}|${runId}|${atMs}${name.slice(to)}`
}

/** An event of a thread's feed as followers get it. */
export function threadEventOf({ id: placeText, name, json: data }: FeedEvent): ThreadEvent {
  const [method, runId = '', atMs, node, ...namespace] = name.split('|')
  const seq = threadSeqOf(placeOf(placeText))
  const isRootLifecycle = method === 'lifecycle' && namespace.length === 0
  return {
    id: isRootLifecycle ? `synth:${runId}:${seq}` : String(seq),
    seq,
    runId,
    method: method as ThreadEventMethod,
    namespace,
    timestampMs: Number(atMs),
    ...node && { node },
    data,
  }
}
