/** A stream of a thread's events, as protocol v2 has them, over either of its transports. */

import { WebSocket } from 'ws'

import { EventStream } from './event-stream.ts'

/** An event as both transports send it. */
export interface ThreadEvent {
  readonly method: string
  readonly params: { readonly namespace: readonly string[]; readonly data: unknown }
}

/** Which events of which thread. */
export interface ThreadPlace {
  readonly url: string
  readonly threadId: string
  readonly transport: 'sse' | 'websocket'
  readonly channels: readonly string[]
}

/** An open stream. */
export interface OpenStream {
  /** Resolves when the server has answered; rejects if it refuses. */
  readonly opened: Promise<void>
  close(): void
}

/** `hear` is called with each event as soon as it is there. */
export function openEvents(place: ThreadPlace, hear: (event: ThreadEvent) => void): OpenStream {
  return place.transport === 'sse' ? overSse(place, hear) : overSocket(place, hear)
}

function overSse({ url, threadId, channels }: ThreadPlace,
  hear: (event: ThreadEvent) => void): OpenStream {
  const stream = new EventStream({ url, method: 'POST', path: `/threads/${threadId}/stream/events`,
    body: { channels } }, ({ data }) => hear(JSON.parse(data) as ThreadEvent))
  const opened = stream.status.then((status) => {
    if (status !== 200) throw new Error(`A stream of events was answered ${status}.`)
  })
  return { opened, close: () => stream.close() }
}

function overSocket({ url, threadId, channels }: ThreadPlace,
  hear: (event: ThreadEvent) => void): OpenStream {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/threads/${threadId}/stream/events`)
  const opened = new Promise<void>((done, fail) => {
    socket.on('error', fail)
    socket.on('close', (code) => fail(new Error(`The socket was closed with ${code}.`)))
    socket.on('open', () =>
      socket.send(
        JSON.stringify({ id: 1, method: 'subscription.subscribe', params: { channels } }),
      ))
    socket.on('message', (bytes) => {
      const frame = JSON.parse(String(bytes)) as ThreadEvent & { type: string }
      if (frame.type === 'event') hear(frame)
      else if (frame.type === 'success') done()
      else fail(new Error(`The subscription was refused: ${String(bytes)}`))
    })
  })
  opened.catch(() => undefined)
  return { opened, close: () => socket.terminate() }
}
