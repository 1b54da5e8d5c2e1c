/** A WebSocket to a thread with credentials that a test chooses: frames, answers and its end. */

import { expect, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'

type Json = Record<string, unknown>

/** What a page or a program sends to say who it is. */
export interface Credentials {
  readonly headers?: Record<string, string>
  readonly protocols?: string[]
}

/** A socket that is closed when its test ends. */
export interface DialledThread {
  readonly socket: WebSocket
  /** All that came. */
  readonly frames: Json[]
  /** Resolves with the code when it is closed. */
  readonly closed: Promise<number>
  /** Sends a command, and resolves with its answer. */
  ask(method: string, params: object, id: number): Promise<Json>
}

/** Dials a thread. */
export function dialThread(serverUrl: string, threadId: string,
  { headers = {}, protocols = [] }: Credentials): DialledThread {
  const url = `${serverUrl.replace('http', 'ws')}/threads/${threadId}/stream/events`
  const socket = new WebSocket(url, protocols, { headers })
  onTestFinished(() => socket.terminate())
  const frames: Json[] = []
  const opened = new Promise((resolve) => socket.once('open', resolve))
  socket.on('error', () => {})
  socket.on('message', (data: Buffer) => frames.push(JSON.parse(data.toString()) as Json))
  return {
    socket,
    frames,
    closed: new Promise((resolve) => socket.once('close', resolve)),
    ask: async (method, params, id) => {
      await opened
      socket.send(JSON.stringify({ id, method, params }))
      await expect.poll(() => frames.find((frame) => frame.id === id)).toBeDefined()
      return frames.find((frame) => frame.id === id)!
    },
  }
}
