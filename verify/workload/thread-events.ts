/** Reads events of a thread by protocol v2, as server-sent events and by WebSocket. */

import { setTimeout as pause } from 'node:timers/promises'
import { WebSocket } from 'ws'

import type { Door, Reply } from './session.ts'

/** An event as the history has it. */
export interface SeenEvent {
  readonly id: string
  readonly seq: number
  readonly method: string
  /** Of a `lifecycle` event of the root: the kind of the event. */
  readonly event?: string
  /** Why a run was interrupted. */
  readonly reason?: string
}

interface SentEvent {
  readonly event_id: string
  readonly seq: number
  readonly method: string
  readonly params: {
    readonly namespace: readonly string[]
    readonly data: { readonly event?: string; readonly reason?: string; readonly log?: string[] }
  }
}

/** Clients in JavaScript get the ends of runs as they are. */
const javaScript = { 'user-agent': 'node' }
const isEnd = (event = '') => /^(completed|failed|interrupted)$/.test(event)

function toSeen({ event_id: id, seq, method, params: { namespace, data } }: SentEvent): SeenEvent {
  const isOfRoot = method === 'lifecycle' && namespace.length === 0
  return { id, seq, method, ...isOfRoot && { event: data.event, reason: data.reason } }
}

/** The events, and the log in the last one with values. */
function toResponse(events: readonly SentEvent[]) {
  const values = events.findLast(({ method, params }) =>
    method === 'values' && params.namespace.length === 0
  )
  return { events: events.map(toSeen), log: values?.params.data.log }
}

export interface EventsRequest {
  readonly door: Door
  readonly path: string
  readonly body: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds for which the stream is read: it does not end. */
  readonly ms: number
}

/** Reads a stream of events for some time. */
export async function readEvents(
  { door: { url, credentials }, path, body, headers, ms }: EventsRequest,
): Promise<Reply> {
  const stopped = new AbortController()
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { ...credentials, ...javaScript, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: stopped.signal,
  })
  const { status } = response
  if (status !== 200) {
    const response_ = await response.json().catch(() => undefined)
    return { status, response: response_,
      retryAfter: response.headers.get('retry-after') ?? undefined }
  }
  const text = readText(response)
  await Promise.race([text.ended, pause(ms)])
  stopped.abort()
  const frames = text.read().split('\n\n').slice(0, -1)
  const events = frames.flatMap((frame) => /^data: (.*)$/m.exec(frame)?.[1] ?? [])
  return { status, response: toResponse(events.map((json) => JSON.parse(json) as SentEvent)) }
}

/** Reads a body while it arrives. `ended` resolves when it ends or breaks. */
function readText({ body }: Response) {
  let text = ''
  const decoder = new TextDecoder()
  const ended = (async () => {
    try {
      for await (const chunk of body!) text += decoder.decode(chunk as Uint8Array, { stream: true })
    } catch {
      // The server was killed, or the time is up.
    }
  })()
  return { ended, read: () => text }
}

export interface SocketRequest {
  readonly door: Door
  readonly path: string
  /** A command that starts a run. */
  readonly command: { readonly id: number }
  readonly channels: readonly string[]
  /** Longest time until the end of the run, in milliseconds. */
  readonly ms: number
}

type Answer = { readonly id: number; readonly result?: { readonly run_id?: string } }

/** Starts a run on a WebSocket, and reads its events until it ends or the time is up. */
export function runOnSocket(
  { door: { url, credentials }, path, command, channels, ms }: SocketRequest,
): Promise<Reply> {
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, {
    headers: { ...credentials, ...javaScript },
  })
  const events: SentEvent[] = []
  let answer: Answer | undefined
  return new Promise((resolve) => {
    const timer = setTimeout(() => socket.terminate(), ms)
    socket.on('error', () => {})
    socket.on('open', () => {
      const subscribe = { id: command.id + 1, method: 'subscription.subscribe',
        params: { channels } }
      for (const frame of [subscribe, command]) socket.send(JSON.stringify(frame))
    })
    socket.on('message', (data: Buffer) => {
      const frame = JSON.parse(data.toString()) as SentEvent | Answer
      if ('event_id' in frame) events.push(frame)
      else if (frame.id === command.id) answer = frame
      if (isOver(answer, events)) socket.terminate()
    })
    socket.on('unexpected-response', (_, { statusCode, headers }) => {
      clearTimeout(timer)
      resolve({ status: statusCode, retryAfter: headers['retry-after'] })
    })
    socket.on('close', () => {
      clearTimeout(timer)
      if (answer === undefined) return resolve({})
      const { log, ...seen } = toResponse(events)
      resolve({ status: 200, runId: answer.result?.run_id, response: { ...answer, ...seen, log } })
    })
  })
}

/** True if the command was refused, or its run has ended. */
function isOver(answer: Answer | undefined, events: readonly SentEvent[]): boolean {
  if (answer === undefined) return false
  const runId = answer.result?.run_id
  return runId === undefined ||
    events.some((event) =>
      event.event_id.startsWith(`synth:${runId}:`) && isEnd(event.params.data.event)
    )
}
