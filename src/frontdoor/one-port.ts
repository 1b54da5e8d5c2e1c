/**
 * One plaintext port for HTTP/1.1 and HTTP/2: the first bytes of a connection tell which it is.
 *
 * The HTTP/1.1 server listens, so that its own limits and timeouts hold; connections that open with
 * the HTTP/2 preface are handed to a second server, which shares the handler.
 */

import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'

const preface = Buffer.from('PRI')

/** Longer than load balancers keep a connection that nobody uses. */
const keepAliveMs = 72_000

export interface OnePort {
  readonly server: Server
  /** Ends every connection at once, whatever is going on on it. */
  destroyConnections(): void
}

export function onePort(handler: RequestListener): OnePort {
  const sockets = new Set<Socket>()
  const server = createServer({ keepAliveTimeout: keepAliveMs }, handler)
  const http2 = createHttp2Server(
    handler as unknown as (request: Http2ServerRequest, response: Http2ServerResponse) => void)
  const serveHttp1 = server.listeners('connection')[0] as (this: Server, socket: Socket) => void
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    sniff(socket, (isHttp2) => {
      if (isHttp2) http2.emit('connection', socket)
      else serveHttp1.call(server, socket)
    })
  })
  return {
    server,
    destroyConnections: () => { for (const socket of sockets) socket.destroy() },
  }
}

/** Reads until the preface is told from a request line, and puts back what was read. */
function sniff(socket: Socket, decided: (isHttp2: boolean) => void): void {
  let head = Buffer.alloc(0)
  const ignore = () => {}
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const length = Math.min(head.length, preface.length)
    const mayBeHttp2 = head.subarray(0, length).equals(preface.subarray(0, length))
    if (mayBeHttp2 && length < preface.length) return
    socket.pause()
    socket.off('data', onData)
    socket.off('error', ignore)
    socket.unshift(head)
    decided(mayBeHttp2)
    socket.resume()
  }
  socket.on('error', ignore)
  socket.on('data', onData)
}
