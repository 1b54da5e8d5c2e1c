/** A customer's webhook endpoint: records what it receives, and answers as a test says. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, RequestListener, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that came. */
export interface Received {
  readonly method: string
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** An endpoint that a test must close. */
export interface Receiver {
  readonly port: number
  readonly url: string
  /** All requests, oldest first. */
  readonly received: readonly Received[]
  /** Resolves when `count` requests have come. */
  arrived(count: number): Promise<void>
  close(): Promise<void>
}

/** Answers a request in place of the default answer, 200. */
export type Answer = (received: Received, response: ServerResponse) => void

/** Opens an endpoint, by default on a free port. */
export async function openReceiver(answer: Answer = (_, response) => response.end(),
  host = '127.0.0.1', port = 0): Promise<Receiver> {
  const received: Received[] = []
  const waiting = new Set<() => void>()
  const hear: RequestListener = async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const { method = '', url: path = '', headers } = request
    const one = { method, path, headers, body: Buffer.concat(chunks).toString() }
    received.push(one)
    answer(one, response)
    for (const look of waiting) look()
  }
  const server = createServer((request, response) => void hear(request, response))
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address() as AddressInfo
  return {
    port: address.port,
    url: `http://${host}:${address.port}/`,
    received,
    arrived: (count) =>
      new Promise((done) => {
        const look = () => {
          if (received.length < count) return
          waiting.delete(look)
          done()
        }
        waiting.add(look)
        look()
      }),
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
