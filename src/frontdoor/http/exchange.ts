/** Every request from its first line to its last byte: id, duration, metrics, log and trace. */

import { METHODS } from 'node:http'

import type { FastifyReply, FastifyRequest } from 'fastify'
import { IsUuid } from 'typebox/format'

import type { Env, TraceSpan, Details, Tracing } from '../../../cluster/index.ts'
import type { RunName } from '../operations/index.ts'
import type { Caller } from './caller.ts'
import { whenClosed } from './ending.ts'
import { loggedHeaders } from './logged-headers.ts'
import type { App } from './route.ts'

/** A finished request. Each text is one of a few, whatever clients send. */
export interface Exchange {
  /** Pattern of its route; `none` if there is none. */
  readonly route: string
  readonly method: string
  /** HTTP status; `gone` if the client left before there was one. */
  readonly status: string
  readonly ms: number
}

/** Observers of requests: tracing, and a callback for each one that has finished. */
export interface ExchangeParts {
  readonly env: Env
  readonly tracing?: Tracing
  /** Called with each finished request. */
  received?(exchange: Exchange): void
}

/** Number of the requests that are in progress now. */
export interface UnderWay {
  readonly count: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The run of the request, if its path does not name it. */
    about: RunName | undefined
    /** Undefined if nothing is traced. */
    span: TraceSpan | undefined
    /** True if the app of a project answers. */
    isOfApp: boolean
  }
}

const listenersMax = 32
const known: ReadonlySet<string> = new Set(METHODS)
const sane = /^[\x21-\x7e]{1,128}$/

/** The id that a client or proxy gave a request; undefined if there is none or it looks unsafe. */
export function givenId(headers: Readonly<Record<string, unknown>>): string | undefined {
  const id = headers['x-request-id']
  return typeof id === 'string' && sane.test(id) ? id : undefined
}

/** Watches all requests. Call first: its hook must run before all others. */
export function addExchanges(app: App, parts: ExchangeParts): UnderWay {
  const { tracing } = parts
  const underWay = { count: 0 }
  app.decorateRequest('about')
  app.decorateRequest('episode')
  app.decorateRequest('isOfApp', false)
  app.addHook('onRequest', (request, reply, done) => {
    nameReply(request, reply)
    // Each part that keeps something for an answer learns of its end: more than Node expects.
    reply.raw.setMaxListeners(listenersMax)
    watch(request, reply, parts, underWay)
    if (tracing === undefined) return done()
    request.span = tracing.begin({
      name: `${methodOf(request)} ${routeOf(request)}`,
      kind: 'server',
      parent: traceOf(request),
      details: { 'http.request.method': methodOf(request), 'http.route': routeOf(request),
        'heddle.request_id': request.id },
    })
    request.span.within(done)
  })
  return underWay
}

/** Sends the client the request id, by which it can ask about the request later. */
export function nameReply({ id }: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', id)
}

/** Details of a request for the log. Path and headers are left out, as they may contain secrets. */
export function detailsOf(request: FastifyRequest): Details {
  const { threadId, runId } = subjectOf(request)
  return {
    requestId: request.id,
    method: methodOf(request),
    route: routeOf(request),
    ...threadId !== undefined && { threadId },
    ...runId !== undefined && { runId },
  }
}

/** The headers that the project of a served request wants in the log. */
function headersIn({ caller, headers, projectHttp }: FastifyRequest): Details {
  const choice = projectHttp?.logging_headers
  if (choice === undefined || (caller as Caller | undefined) === undefined) return {}
  return { headers: loggedHeaders(headers, choice) }
}

function watch(request: FastifyRequest, { raw }: FastifyReply, { env, received }: ExchangeParts,
  underWay: { count: number }): void {
  const beganMs = env.monotonicMs()
  underWay.count++
  whenClosed(raw, () => {
    underWay.count--
    // The headers of a WebSocket are sent past the response.
    const isSent = raw.headersSent || raw.statusCode === 101
    const status = isSent ? String(raw.statusCode) : 'gone'
    const ms = env.monotonicMs() - beganMs
    received?.({ route: routeOf(request), method: methodOf(request), status, ms })
    env.log.debug('A request is over.', { ...detailsOf(request), status, ms: Math.round(ms),
      ...headersIn(request) })
    if (request.span !== undefined) endSpan(request, status)
  })
}

function endSpan(request: FastifyRequest, status: string): void {
  const { threadId, runId } = subjectOf(request)
  request.span!.end({
    ...status !== 'gone' && { 'http.response.status_code': Number(status) },
    ...threadId !== undefined && { 'heddle.thread_id': threadId },
    ...runId !== undefined && { 'heddle.run_id': runId },
  }, status.startsWith('5') ? status : undefined)
}

/** Ids of the request. Empty for a refused request, which may belong to another region. */
function subjectOf({ about, caller, params }: FastifyRequest): Partial<RunName> {
  if (about !== undefined) return about
  if ((caller as Caller | undefined) === undefined) return {}
  const { thread_id, run_id } = (params ?? {}) as Readonly<Record<string, unknown>>
  return {
    ...isId(thread_id) && { threadId: thread_id },
    ...isId(run_id) && { runId: run_id },
  }
}

function isId(text: unknown): text is string {
  return typeof text === 'string' && IsUuid(text)
}

function methodOf({ method }: FastifyRequest): string {
  return known.has(method) ? method : 'other'
}

function routeOf({ routeOptions, isOfApp }: FastifyRequest): string {
  return isOfApp ? 'app' : routeOptions.url ?? 'none'
}

function traceOf({ headers }: FastifyRequest): string {
  const { traceparent } = headers
  return typeof traceparent === 'string' ? traceparent : ''
}
