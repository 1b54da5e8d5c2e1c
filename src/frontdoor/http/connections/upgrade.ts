/**
 * WebSockets: requests that ask for one pass the same checks as all others. A refusal is sent as a
 * close code, 4000 and the HTTP status, because browsers show pages no other reason.
 */

import { ServerResponse } from 'node:http'
import type { IncomingHttpHeaders, IncomingMessage, RequestListener, Server } from 'node:http'
import type { Socket } from 'node:net'

import type { FastifyReply, FastifyRequest } from 'fastify'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'

import type { HeddleError } from '../../../errors.ts'

/** Paths that take a WebSocket. All other requests stay as they are. */
const socketPath = /^(?:\/d\/[^/?]+){0,2}\/threads\/[^/?]+\/stream\/events(\?|$)/

/** Protocols that pages, which cannot set headers, offer instead: one for each credential. */
const credentials = [['heddle.key.', (text: string) => ({ 'x-api-key': text })], ['heddle.token.',
  (text: string) => ({ authorization: `Bearer ${text}` })]] as const

/** Bytes that a close reason may have. */
const reasonMax = 123

const heads = new WeakMap<IncomingMessage, Buffer>()
/** Of requests for WebSockets that no route of ours takes; an app may. */
const otherHeads = new WeakMap<IncomingMessage, Buffer>()

/** True for a request that may become a WebSocket. For `shouldUpgradeCallback` of a server. */
export function asksForSocket({ method, headers }: IncomingMessage): boolean {
  return method === 'GET' && headers.upgrade?.toLowerCase() === 'websocket'
}

/** Passes requests for WebSockets to the handler of all requests. */
export function serveUpgrades(server: Server, handler: RequestListener): void {
  server.on('upgrade', (request: IncomingMessage, socket: Socket, head: Buffer) => {
    socket.on('error', () => socket.destroy())
    Object.assign(request.headers, credentialsIn(request.headers))
    // Node before 24.9 also passes on requests for other protocols.
    if (asksForSocket(request)) {
      const kept = socketPath.test(request.url ?? '') ? heads : otherHeads
      kept.set(request, head)
    }
    const response = new ServerResponse(request)
    response.shouldKeepAlive = false
    response.assignSocket(socket)
    response.once('finish', () => socket.end())
    handler(request, response)
  })
}

/** True for a request that becomes a WebSocket if its route accepts it. */
export function isUpgrade({ raw }: FastifyRequest): boolean {
  return heads.has(raw)
}

/** The first bytes behind a request for a WebSocket of an app; undefined for any other request. */
export function headOf({ raw }: FastifyRequest): Buffer | undefined {
  return otherHeads.get(raw)
}

/** The WebSockets of a front door. */
export class SocketServer {
  readonly #bytesMax: number
  /** By the bytes that a frame may have. */
  readonly #servers = new Map<number, WebSocketServer>()
  readonly #refusing = newServer(1)

  /** Longer frames end their socket. */
  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  /** Accepts the socket of a request; `accepted` is called at once. */
  accept({ raw: request, deployment }: FastifyRequest, reply: FastifyReply,
    accepted: (socket: WebSocket) => void): void {
    const bytesMax = Math.min(this.#bytesMax, deployment?.bodyBytesMax ?? Infinity)
    const server = this.#servers.get(bytesMax) ?? newServer(bytesMax)
    this.#servers.set(bytesMax, server)
    this.#upgrade(server, request, reply, accepted)
  }

  /** Accepts the socket of a refused request, and closes it with the reason. */
  refuse({ raw: request }: FastifyRequest, reply: FastifyReply, error: HeddleError): void {
    this.#upgrade(this.#refusing, request, reply, (socket) => {
      socket.on('error', () => socket.terminate())
      closeFor(socket, error)
    })
  }

  #upgrade(server: WebSocketServer, request: IncomingMessage, reply: FastifyReply,
    done: (socket: WebSocket) => void): void {
    reply.hijack()
    reply.raw.statusCode = 101
    server.handleUpgrade(request, request.socket, heads.get(request)!, done)
  }
}

function newServer(maxPayload: number): WebSocketServer {
  return new WebSocketServer({ noServer: true, clientTracking: false, autoPong: false, maxPayload,
    handleProtocols: chosenProtocol })
}

/** Closes a socket with the status of an error. Clients do not come back after most of 44xx. */
export function closeFor(socket: WebSocket, { httpStatus, message }: HeddleError): void {
  socket.close(4_000 + httpStatus, shortened(message))
}

function shortened(message: string): string {
  const bytes = Buffer.from(message)
  return bytes.length <= reasonMax
    ? message
    : bytes.subarray(0, reasonMax - 3).toString().replace(/\ufffd$/, '')
}

/** Names of protocols with credentials are read here only, so that no log has them. */
function credentialsIn(headers: IncomingHttpHeaders): IncomingHttpHeaders {
  const { 'sec-websocket-protocol': offered } = headers
  if (offered === undefined) return {}
  const names = offered.split(',').map((name) => name.trim())
  const found = credentials.flatMap(([prefix, header]) =>
    names.filter((name) => name.startsWith(prefix))
      .map((name) => header(name.slice(prefix.length)))
  )
  return Object.assign({}, ...found) as IncomingHttpHeaders
}

/** The first protocol that holds no credential: a browser wants one of those that it offered. */
function chosenProtocol(offered: ReadonlySet<string>): string | false {
  return [...offered].find((name) => !credentials.some(([prefix]) => name.startsWith(prefix))) ??
    false
}
