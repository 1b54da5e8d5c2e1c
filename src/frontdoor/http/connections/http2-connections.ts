/** Ends unused HTTP/2 connections and unfinished requests, as Node does for HTTP/1.1 only. */

import { constants } from 'node:http2'
import type { Http2Server, ServerHttp2Session, ServerHttp2Stream } from 'node:http2'

import type { TickerMember } from './connection-ticker.ts'

/** Longer than load balancers keep an unused connection, which is up to ten minutes. */
const idleTicksMax = 620

/** Ticks that a client may take to send a whole request. */
const requestTicksMax = 300

interface Connection {
  /** Requests, and how many ticks each has been unfinished. */
  readonly streams: Map<ServerHttp2Stream, number>
  /** Ticks without a request. */
  idleTicks: number
}

/** Watches the connections of `server` from now on. */
export function http2Connections(server: Http2Server): TickerMember {
  const connections = new Map<ServerHttp2Session, Connection>()
  server.on('session', (session) => {
    const streams: Connection['streams'] = new Map()
    connections.set(session, { streams, idleTicks: 0 })
    session.once('close', () => connections.delete(session))
    session.on('stream', (stream) => {
      streams.set(stream, 0)
      stream.once('close', () => streams.delete(stream))
    })
  })
  return {
    tick: () => {
      for (const [session, connection] of connections) {
        connection.idleTicks = connection.streams.size > 0 ? 0 : connection.idleTicks + 1
        if (connection.idleTicks > idleTicksMax) session.close()
        cancelUnfinished(connection.streams)
      }
    },
    leave: () => {
      for (const session of connections.keys()) session.close()
    },
  }
}

/** Cancels requests that have been unfinished for too long. */
function cancelUnfinished(streams: Connection['streams']): void {
  for (const [stream, ticks] of streams) {
    if (stream.endAfterHeaders || stream.readableEnded) continue
    if (ticks === requestTicksMax) stream.close(constants.NGHTTP2_CANCEL)
    else streams.set(stream, ticks + 1)
  }
}
