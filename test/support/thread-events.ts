/** The events of a thread by protocol v2, read without the official client. */

import { framesOf } from './wire.ts'

/** An event as the wire has it. */
export interface EventSeen {
  readonly event_id: string
  readonly seq: number
  readonly method: string
  readonly params: {
    readonly namespace: readonly string[]
    readonly timestamp: number
    readonly data: unknown
  }
}

/** Which events are read. */
export interface EventRequest {
  readonly channels?: readonly string[]
  /** Only events with a greater number. */
  readonly since?: number
  readonly signal?: AbortSignal
}

/** Ends when the signal aborts; throws if the stream is refused or breaks. */
export async function* openEvents(url: string, threadId: string,
  { channels = ['lifecycle', 'values', 'checkpoints'], since, signal }: EventRequest =
    {}): AsyncGenerator<EventSeen, void, void> {
  const response = await fetch(`${url}/threads/${threadId}/stream/events`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify({ channels, ...since !== undefined && { since } }),
    ...signal && { signal },
  })
  if (!response.ok) throw new Error(`The stream was answered ${response.status}.`)
  for await (const { text } of framesOf(response.body!)) {
    const data = /^data: ?(.*)$/m.exec(text)?.[1]
    if (data !== undefined) yield JSON.parse(data) as EventSeen
  }
}
