/** Answers bytes that are not an HTTP request: there is no reply object to do it with. */

import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

import { HeddleError } from '../../errors.ts'
import { bodyOf } from './error-reply.ts'

const unlike = [400, 'This is not a request of HTTP/1.1.'] as const
const known: Readonly<Record<string, readonly [status: number, sentence: string]>> = {
  HPE_HEADER_OVERFLOW: [431, 'The headers are too large: they may have 16 KB in all.'],
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'The request took too long to arrive.'],
}

export function refuseUnreadable(error: Error & { readonly code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed) return
  const [status, sentence] = known[error.code ?? ''] ?? unlike
  const body = JSON.stringify(bodyOf(new HeddleError('malformed', sentence)))
  const head = [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, 'Content-Type: application/json',
    `Content-Length: ${body.length}`, 'Connection: close']
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`)
  socket.destroy(error)
}
