/** A port of this machine at which requests come back from the middleware of apps. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, RequestListener, Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Bytes of headers: those of clients, and what middleware has added. */
const headerBytesMax = 64 * 1024
const keepAliveMs = 120_000

/** The port. It opens when it is needed first. */
export class ReturnPort {
  #handler: RequestListener | undefined
  #takeBack: ((request: IncomingMessage) => boolean) | undefined
  #server: Server | undefined
  #port: Promise<number> | undefined

  /** Answers with this handler. Call before the port is opened. */
  handle(handler: RequestListener): void {
    this.#handler = handler
  }

  /** Lets requests in that this function knows. Call before the port is opened. */
  admit(takeBack: (request: IncomingMessage) => boolean): void {
    this.#takeBack = takeBack
  }

  /** Resolves with its number, or rejects with the system's error. */
  open(): Promise<number> {
    this.#port ??= this.#listen()
    this.#port.catch(() => this.#port = undefined)
    return this.#port
  }

  /** Accepts no more connections. Resolves when all requests are answered. */
  async close(): Promise<void> {
    const server = this.#server
    if (server === undefined) return
    await new Promise((resolve) => {
      server.close(resolve)
      server.closeIdleConnections()
    })
  }

  /** Ends every connection at once. */
  destroyConnections(): void {
    this.#server?.closeAllConnections()
  }

  async #listen(): Promise<number> {
    const server = createServer({ maxHeaderSize: headerBytesMax, keepAliveTimeout: keepAliveMs,
      requestTimeout: 0, headersTimeout: 0 }, (request, response) => {
      if (this.#takeBack?.(request) !== true) return void response.writeHead(403).end()
      this.#handler!(request, response)
    })
    this.#server = server
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return (server.address() as AddressInfo).port
  }
}
