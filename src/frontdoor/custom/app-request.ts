/** One request on its way to an app, and the answer on its way back: streamed, and not held. */

import { Agent, request as send } from 'node:http'
import type { ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import type { FastifyReply, FastifyRequest } from 'fastify'

import { HeddleError } from '../../errors.ts'
import { appHeaders, headerPairs, isAppHeader, passedOn } from '../../graph/index.ts'
import type { AppAddress } from '../../graph/index.ts'
import { announcedLength } from '../http/body-quota.ts'
import { breakOff, whenClosed } from '../http/ending.ts'

/** The way to an app, and what the front door says of a request. */
export interface AppRequestOptions {
  readonly address: AppAddress
  /** Finds another address, if nobody answers at this one. */
  readonly nextAddress: (gone: AppAddress) => Promise<AppAddress>
  /** Path and query as the app sees them. */
  readonly target: string
  /** Headers of the front door. */
  readonly said: Readonly<Record<string, string>>
  /** Bytes that a body may have. */
  readonly bodyBytesMax: number
  /** True if the body is not sent. */
  readonly hasNoBody?: boolean
}

/** Connections to apps, which are on this machine. */
const agent = new Agent({ keepAlive: true, maxFreeSockets: 256, timeout: 60_000 })

/**
 * Sends a request to an app. Resolves with the answer when its headers are there. Throws
 * `too_large` for a long body, and `unavailable` if the app ends before it answers.
 */
export async function askApp(request: FastifyRequest, { raw: response }: FastifyReply,
  options: AppRequestOptions): Promise<IncomingMessage> {
  const length = options.hasNoBody === true ? 0 : announcedLength(request.raw)
  if ((length ?? 0) > options.bodyBytesMax) throw tooLarge(options)
  const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>()
  const sendTo = (address: AppAddress, isAgain: boolean) => {
    const call = send({ agent, host: '127.0.0.1', port: address.port, method: request.method,
      path: options.target, headers: headersOf(request, { ...options, address }) })
    whenClosed(response, () => {
      if (!response.writableFinished) call.destroy()
    })
    call.once('response', resolve)
    call.once('error', ({ code }: NodeJS.ErrnoException) => {
      if (isAgain || length !== 0 || response.destroyed) return reject(gone())
      // The thread may have closed an unused connection at the same moment, or be replaced now.
      if (call.reusedSocket && code === 'ECONNRESET') sendTo(address, true)
      else if (code !== 'ECONNREFUSED') reject(gone())
      else sendToNext(address).catch(reject)
    })
    if (length === 0) call.end()
    else sendBody(request, call, { options, failed: reject })
  }
  const sendToNext = async (gone: AppAddress) => sendTo(await options.nextAddress(gone), true)
  sendTo(options.address, false)
  return await promise
}

/**
 * Sends the answer of an app as it comes, and no faster than the client reads. Headers that the
 * server has set for the reply are there as well, unless the app says them itself.
 */
export function passAnswer(answer: IncomingMessage, reply: FastifyReply): void {
  const { raw: response } = reply
  reply.hijack()
  const headers = new Map<string, string[]>()
  for (const [name, value] of passedOn(headerPairs(answer.rawHeaders))) {
    const key = name.toLowerCase()
    if (!isAppHeader(key)) headers.set(key, [...headers.get(key) ?? [], value])
  }
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (!headers.has(name) && value !== undefined) response.setHeader(name, value)
  }
  for (const [name, [first = '', ...others]] of headers) {
    response.setHeader(name, others.length > 0 ? [first, ...others] : first)
  }
  response.writeHead(answer.statusCode ?? 502)
  // Of a stream whose first event is late, the client sees the headers at once.
  setImmediate(() => {
    if (!response.destroyed && !response.writableEnded) response.flushHeaders()
  })
  pipeline(answer, response).catch(() => {
    answer.destroy()
    if (!response.writableFinished) breakOff(response)
  })
}

/** Connects the socket of a request with that of its app, whatever they say to each other. */
export function joinSockets(request: FastifyRequest, reply: FastifyReply,
  { head, ...options }: AppRequestOptions & { readonly head: Buffer }): Promise<void> {
  const { socket } = request.raw
  const call = send({ agent: false, host: '127.0.0.1', port: options.address.port,
    method: request.method, path: options.target,
    headers: { ...headersOf(request, options), connection: 'upgrade',
      upgrade: String(request.headers.upgrade) } })
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  call.once('error', () => reject(gone()))
  call.once('response', (answer) => {
    passAnswer(answer, reply)
    resolve()
  })
  call.once('upgrade', (answer, upstream: Socket, first: Buffer) => {
    reply.hijack()
    reply.raw.statusCode = 101
    for (const each of [socket, upstream]) each.setNoDelay(true)
    const lines = headerPairs(answer.rawHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('')}\r\n`)
    if (first.length > 0) socket.write(first)
    if (head.length > 0) upstream.write(head)
    for (const [from, to] of [[socket, upstream], [upstream, socket]] as const) {
      from.on('error', () => to.destroy())
      from.once('close', () => to.destroy())
    }
    socket.pipe(upstream)
    upstream.pipe(socket)
    resolve()
  })
  call.end()
  return promise
}

function headersOf(request: FastifyRequest,
  { address: { token }, said, hasNoBody }: AppRequestOptions): OutgoingHttpHeaders {
  const headers: Record<string, string | string[]> = {}
  for (const [name, value] of passedOn(headerPairs(request.raw.rawHeaders))) {
    const key = name.toLowerCase()
    const before = headers[key]
    if (!isAppHeader(key)) headers[key] = before === undefined ? value : [before, value].flat()
  }
  if (hasNoBody === true) delete headers['content-length']
  const authority = request.headers[':authority']
  if (headers['host'] === undefined && authority !== undefined) headers['host'] = String(authority)
  const { 'x-forwarded-for': hops } = request.headers
  const peer = request.socket.remoteAddress ?? ''
  return { ...headers, 'x-forwarded-for': hops === undefined ? peer : `${String(hops)}, ${peer}`,
    'x-request-id': request.id, [appHeaders.token]: token, ...said }
}

/** Sends the body. If that fails, the rest is read and dropped, so that the client sees why. */
function sendBody({ raw }: FastifyRequest, call: ClientRequest,
  { options, failed }: { readonly options: AppRequestOptions;
    readonly failed: (error: Error) => void }): void {
  const body = counted(options)
  const stop = () => {
    raw.unpipe(body)
    raw.resume()
  }
  body.once('error', (error) => {
    stop()
    failed(error)
    call.destroy()
  })
  call.once('close', stop)
  raw.pipe(body).pipe(call)
}

function counted(options: AppRequestOptions): Transform {
  let bytes = 0
  return new Transform({ transform: (chunk: Buffer, _, done) => {
    bytes += chunk.length
    if (bytes > options.bodyBytesMax) done(tooLarge(options))
    else done(null, chunk)
  } })
}

function tooLarge({ bodyBytesMax }: AppRequestOptions): HeddleError {
  return new HeddleError('too_large', `The body is longer than ${bodyBytesMax / 1_048_576} MB.`)
}

function gone(): HeddleError {
  return new HeddleError('unavailable', 'The app of this project ended before it answered.')
}
