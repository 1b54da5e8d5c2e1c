/** Answers bytes that are not an HTTP request. There is no reply object for them. */

import { STATUS_CODES } from 'node:http'
import type { Http2ServerResponse } from 'node:http2'
import type { Socket } from 'node:net'

import { HeddleError } from '../../../errors.ts'
import { bodyOf } from '../../error-body.ts'

const unlike = [400, 'This is not a request of HTTP/1.1.'] as const
const longHeaders = [431, 'The headers are too large: they may have 16 KB in all.'] as const
const known: Readonly<Record<string, readonly [status: number, message: string]>> = {
  HPE_HEADER_OVERFLOW: longHeaders,
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
}

/** Answers with a 4xx and closes the socket. For the `clientError` event of the HTTP/1.1 server. */
export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, message] = known[error.code ?? ''] ?? unlike
  const body = bodyFor(message)
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'Content-Type: application/json',
    'X-Content-Type-Options: nosniff', `Content-Length: ${body.length}`, 'Connection: close']
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy(error)
}

/** Answers headers that are too large. Over HTTP/2 they still make a request. */
export function refuseHeaders(response: Http2ServerResponse): void {
  const [status, message] = longHeaders
  response.writeHead(status, { 'content-type': 'application/json',
    'x-content-type-options': 'nosniff' }).end(bodyFor(message))
}

function bodyFor(message: string): string {
  return JSON.stringify(bodyOf(new HeddleError('malformed', message)))
}
