/**
 * One plaintext port for HTTP/1.1 and HTTP/2. The first bytes of a connection tell the version.
 *
 * The HTTP/1.1 server listens, so that its own limits and timeouts hold. Connections that open with
 * the HTTP/2 preface go to a second server, which has the same handler.
 */

import { createServer } from 'node:http'
import type { RequestListener, Server } from 'node:http'
import { createServer as createHttp2Server } from 'node:http2'
import type { Http2ServerRequest, Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'

import { refuseHeaders } from './unreadable.ts'
import type { ConnectionQuota } from './connection-quota.ts'
import type { TickerMember } from './connection-ticker.ts'
import { http2Connections } from './http2-connections.ts'
import { asksForSocket, serveUpgrades } from './upgrade.ts'

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n')

/** Longer than load balancers keep an unused connection, which is up to ten minutes. */
const keepAliveMs = 620_000

/** Bytes of all header names and values of a request, over any version of HTTP. */
const headerBytesMax = 16 * 1024

/** Requests that may be in progress on one HTTP/2 connection. */
const streamsMax = 100

/** Ticks that a connection may stay open before it shows its version of HTTP. */
const silentTicksMax = 60

/** The port before it listens, and its connections. */
export interface OnePort extends TickerMember {
  /** The server that listens, with `handler` for every request. */
  serve(handler: RequestListener): Server
  /** Ends every connection at once, whatever is in progress. */
  destroyConnections(): void
}

/** A handler whose answers, also errors, are taken for what they say they are, and not guessed. */
export function unguessed(handler: RequestListener): RequestListener {
  return (request, response) => {
    response.setHeader('x-content-type-options', 'nosniff')
    handler(request, response)
  }
}

/** Makes the port. Connections that `quota` does not admit are closed at once. */
export function onePort(quota: Pick<ConnectionQuota, 'admits'>): OnePort {
  const sockets = new Set<Socket>()
  /** Connections whose version of HTTP is not known yet, and their age in ticks. */
  const silent = new Map<Socket, number>()
  const server = createServer({ keepAliveTimeout: keepAliveMs, maxHeaderSize: headerBytesMax,
    shouldUpgradeCallback: asksForSocket })
  const http2 = createHttp2Server({ settings: { maxConcurrentStreams: streamsMax } })
  const connections = http2Connections(http2)
  const serveHttp1 = server.listeners('connection')[0] as (this: Server, socket: Socket) => void
  server.removeAllListeners('connection')
  server.on('connection', (socket: Socket) => {
    if (!quota.admits(socket)) return void socket.destroy()
    sockets.add(socket)
    socket.once('close', () => sockets.delete(socket))
    silent.set(socket, 0)
    sniff(socket, (version) => {
      silent.delete(socket)
      if (version === 0) socket.destroy()
      if (version === 2) {
        // Ends with its client: a session would wait for a half-open connection for ever.
        socket.allowHalfOpen = false
        // The session itself reads what was put back. A resumed socket would lose it.
        http2.emit('connection', socket)
      }
      if (version === 1) {
        serveHttp1.call(server, socket)
        socket.resume()
      }
    })
  })
  return {
    serve: (handler) => {
      const serveHttp2 = handler as unknown as Http2Listener
      http2.on('request', (request, response) => {
        if (headerBytes(request) <= headerBytesMax) serveHttp2(request, response)
        else refuseHeaders(response)
      })
      serveUpgrades(server, handler)
      return server.on('request', handler)
    },
    tick: () => {
      for (const [socket, ticks] of silent) {
        if (ticks === silentTicksMax) socket.destroy()
        else silent.set(socket, ticks + 1)
      }
      connections.tick()
    },
    leave: () => {
      for (const socket of silent.keys()) socket.destroy()
      connections.leave()
    },
    destroyConnections: () => {
      for (const socket of sockets) socket.destroy()
    },
  }
}

/**
 * Counts bytes of headers. A client that has not seen our settings may send more than they allow.
 */
function headerBytes({ rawHeaders }: Http2ServerRequest): number {
  return rawHeaders.reduce((sum, text) => sum + text.length, 0)
}

type Http2Listener = (request: Http2ServerRequest, response: Http2ServerResponse) => void

/**
 * Reads until the preface and a request line can be separated, and puts back what was read. The
 * version is 0 for a connection that ends before.
 */
function sniff(socket: Socket, decided: (version: 0 | 1 | 2) => void): void {
  let head = Buffer.alloc(0)
  const settle = (version: 0 | 1 | 2) => {
    socket.off('data', onData).off('error', ignore).off('close', onEnd).off('end', onEnd)
    decided(version)
  }
  const ignore = () => {}
  const onEnd = () => settle(0)
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk])
    const length = Math.min(head.length, preface.length)
    const mayBeHttp2 = head.subarray(0, length).equals(preface.subarray(0, length))
    if (mayBeHttp2 && length < preface.length) return
    socket.pause()
    socket.unshift(head)
    settle(mayBeHttp2 ? 2 : 1)
  }
  socket.on('data', onData).on('error', ignore).on('close', onEnd).on('end', onEnd)
}
