/** Sends a request of any shape, and returns its outcome. */

import { connect as connectHttp2 } from 'node:http2'
import type { ClientHttp2Session, IncomingHttpHeaders } from 'node:http2'
import { connect } from 'node:net'

import type { FuzzRequest, RawRequest, WholeRequest } from './fuzz-requests.ts'

/** The outcome: a status (with that of gRPC, if there is one), or how the request got none. */
export type Fate =
  | { readonly kind: 'answered'; readonly status: number; readonly grpc: string | undefined }
  | { readonly kind: 'refused' }
  | { readonly kind: 'hung' }

/** Time without an answer after which a request counts as hanging. */
const patienceMs = 60_000
/** Time after which raw bytes are ended, as they may be an incomplete request. */
const finishMs = 30

/** Sends requests to one server. */
export class FuzzSender {
  readonly #url: URL
  #session: ClientHttp2Session | undefined

  constructor(url: string) {
    this.#url = new URL(url)
  }

  close(): void {
    this.#session?.destroy()
  }

  send(request: FuzzRequest): Promise<Fate> {
    if (request.wire === 'http2') return this.#stream(request)
    return this.#connection(request)
  }

  #connection(request: WholeRequest | RawRequest): Promise<Fate> {
    const { promise, resolve } = Promise.withResolvers<Fate>()
    const socket = connect({ host: this.#url.hostname, port: Number(this.#url.port), noDelay: true,
      allowHalfOpen: true })
    const timers = [setTimeout(() => resolve({ kind: 'hung' }), patienceMs)]
    let received = ''
    socket.on('data', (piece: Buffer) => {
      if (received.length < 4_096) received += piece.toString('latin1')
      const status = statusIn(received)
      if (status !== undefined) resolve({ kind: 'answered', status, grpc: grpcIn(received) })
    })
    socket.on('error', () => resolve({ kind: 'refused' }))
    socket.on('close', () => resolve({ kind: 'refused' }))
    socket.on('end', () => resolve({ kind: 'refused' }))
    socket.write('bytes' in request ? request.bytes : messageOf(request, this.#url.host))
    // A complete request must be answered without that.
    if ('bytes' in request) timers.push(setTimeout(() => socket.end(), finishMs))
    else if (request.calledOff) setImmediate(() => socket.destroy())
    return promise.finally(() => {
      timers.forEach(clearTimeout)
      socket.destroy()
    })
  }

  #stream(request: WholeRequest): Promise<Fate> {
    const { promise, resolve } = Promise.withResolvers<Fate>()
    const { method, path, headers, body } = request
    const timer = setTimeout(() => resolve({ kind: 'hung' }), patienceMs)
    try {
      const stream = this.#live().request({
        ...Object.fromEntries(headers.filter(([name]) => name !== 'host')),
        ':method': method,
        ':path': path,
      }, { endStream: false })
      stream.on('response', (answer) =>
        resolve({
          kind: 'answered',
          status: Number(answer[':status']),
          grpc: grpcOf(answer),
        }))
      stream.on('error', () => resolve({ kind: 'refused' }))
      stream.on('close', () => resolve({ kind: 'refused' }))
      stream.end(body)
      if (request.calledOff) stream.close()
      void promise.finally(() => stream.close())
    } catch {
      // The library refuses to send some requests.
      resolve({ kind: 'refused' })
    }
    return promise.finally(() => clearTimeout(timer))
  }

  #live(): ClientHttp2Session {
    if (this.#session === undefined || this.#session.closed || this.#session.destroyed) {
      this.#session = connectHttp2(this.#url.origin)
      this.#session.on('error', () => {})
    }
    return this.#session
  }
}

function messageOf({ method, path, headers, body, chunked }: WholeRequest, host: string): Buffer {
  const names = new Set(headers.map(([name]) => name))
  const lines = [`${method} ${path} HTTP/1.1`, ...names.has('host') ? [] : [`host: ${host}`],
    ...headers.map(([name, value]) => `${name}: ${value}`)]
  if (body.length === 0) return Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  const framed = chunked ? 'transfer-encoding: chunked' : `content-length: ${body.length}`
  const head = Buffer.from(`${[...lines, framed].join('\r\n')}\r\n\r\n`, 'latin1')
  if (!chunked) return Buffer.concat([head, body])
  const [before, after] = [`${body.length.toString(16)}\r\n`, '\r\n0\r\n\r\n']
  return Buffer.concat([head, Buffer.from(before), body, Buffer.from(after)])
}

/** The final status; undefined as long as it has not come. */
function statusIn(received: string): number | undefined {
  const final = /^(?:HTTP\/1\.[01] 1\d\d[^]*?\r\n\r\n)*HTTP\/1\.[01] ([2-9]\d\d)[^]*?\r\n\r\n/
    .exec(received)
  return final === null ? undefined : Number(final[1])
}

function grpcIn(received: string): string | undefined {
  return /^grpc-status: ?(\d+)/mi.exec(received)?.[1]
}

function grpcOf(headers: IncomingHttpHeaders): string | undefined {
  return headers['grpc-status'] as string | undefined
}
