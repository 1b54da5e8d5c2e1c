/** The way of a request from an app's middleware to the routes of the server, and of its answer. */

import { Agent, request as send } from 'node:http'
import type { IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { appHeaders, headerPairs, passedOn } from '../app/app-headers.ts'

/** The place where the server takes a request back: its port and the token of the request. */
export interface WayBack {
  readonly port: number
  readonly token: string
}

/** The way back in a header, `PORT:TOKEN`; undefined for anything else. */
export function wayBackIn(header: string | string[] | undefined): WayBack | undefined {
  const [, port, token] = /^(\d{1,5}):(\S+)$/.exec(String(header)) ?? []
  return port === undefined || token === undefined ? undefined : { port: Number(port), token }
}

const agent = new Agent({ keepAlive: true, maxFreeSockets: 64 })
const empty = new Set([204, 205, 304])

/**
 * Sends a request to the routes of the server as it left the middleware. `body` is there if that
 * has read it; `original` is the request as it came, whose length is known.
 */
export async function passOn({ port, token }: WayBack, request: Request,
  { original, body }: { readonly original: Request;
    readonly body: ArrayBuffer | undefined }): Promise<Response> {
  const { method, signal } = request
  const { pathname, search } = new URL(request.url)
  const headers = headersOf(request, request === original && body === undefined)
  headers[appHeaders.back] = token
  if (body !== undefined) headers['content-length'] = body.byteLength
  const call = send({ agent, host: '127.0.0.1', port, method, path: pathname + search, headers,
    signal })
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    call.once('response', resolve)
    call.once('error', reject)
  })
  const sent = sendBody(request, body)
  if (sent === undefined) call.end()
  // A server that has answered may leave the rest of a body unread.
  else void pipeline(sent, call).catch(() => {})
  return responseOf(await answer)
}

function sendBody(request: Request, body: ArrayBuffer | undefined): Readable | undefined {
  if (body !== undefined) return Readable.from([new Uint8Array(body)])
  return request.body === null ? undefined : Readable.fromWeb(request.body)
}

function headersOf(request: Request, isUntouched: boolean): OutgoingHttpHeaders {
  const headers: OutgoingHttpHeaders = {}
  for (const [name, value] of passedOn([...request.headers])) {
    // The length of a body that was replaced is not known.
    if (isUntouched || name !== 'content-length') headers[name] = value
  }
  return headers
}

function responseOf(answer: IncomingMessage): Response {
  const headers = new Headers()
  for (const [name, value] of passedOn(headerPairs(answer.rawHeaders))) {
    // Middleware may give the answer another body, and keep its headers.
    if (name.toLowerCase() !== 'content-length') headers.append(name, value)
  }
  const status = answer.statusCode ?? 502
  const hasBody = !empty.has(status)
  if (!hasBody) answer.resume()
  const body = hasBody ? Readable.toWeb(answer) as ReadableStream : null
  return new Response(body, { status, headers })
}
