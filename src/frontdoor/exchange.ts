/** Every request from its first line to its last byte: named, timed, counted, logged and traced. */

import { METHODS } from 'node:http'

import type { FastifyReply, FastifyRequest } from 'fastify'
import { IsUuid } from 'typebox/format'

import type { Env, Episode, Facts, Tracing } from '../../cluster/index.ts'
import type { Caller } from './caller.ts'
import type { RunName } from './operations/index.ts'
import { whenClosed } from './rest/ending.ts'
import type { App } from './rest/route.ts'

/** A request that is over. Its words are of small sets, whatever clients send. */
export interface Exchange {
  /** The pattern of its route; `none` where it has none. */
  readonly route: string
  readonly method: string
  /** `gone` where the client went before there was one. */
  readonly status: string
  readonly ms: number
}

export interface ExchangeParts {
  readonly env: Env
  readonly tracing?: Tracing
  /** Called with each request that is over. */
  heard?(exchange: Exchange): void
}

/** Requests that are under way. */
export interface UnderWay {
  readonly count: number
}

declare module 'fastify' {
  interface FastifyRequest {
    /** What it is about, where its path does not say so. */
    about: RunName | undefined
    /** Undefined where nobody watches. */
    episode: Episode | undefined
  }
}

const known: ReadonlySet<string> = new Set(METHODS)
const sane = /^[\x21-\x7e]{1,128}$/

/** The id that a client, or a proxy before it, gave a request; undefined for none that is sane. */
export function givenId(headers: Readonly<Record<string, unknown>>): string | undefined {
  const id = headers['x-request-id']
  return typeof id === 'string' && sane.test(id) ? id : undefined
}

/** Before everything else that is done for a request. */
export function addExchanges(app: App, parts: ExchangeParts): UnderWay {
  const { tracing } = parts
  const underWay = { count: 0 }
  app.decorateRequest('about')
  app.decorateRequest('episode')
  app.addHook('onRequest', (request, reply, done) => {
    nameReply(request, reply)
    watch(request, reply, parts, underWay)
    if (tracing === undefined) return done()
    request.episode = tracing.begin({
      name: `${methodOf(request)} ${routeOf(request)}`, kind: 'server',
      parent: traceOf(request),
      facts: { 'http.request.method': methodOf(request), 'http.route': routeOf(request),
        'heddle.request_id': request.id },
    })
    request.episode.within(done)
  })
  return underWay
}

/** Whoever asks what became of it names it by this. */
export function nameReply({ id }: FastifyRequest, reply: FastifyReply): void {
  void reply.header('x-request-id', id)
}

/** What a log line tells of a request: neither its path nor its headers, which may hold secrets. */
export function factsOf(request: FastifyRequest): Facts {
  const { threadId, runId } = subjectOf(request)
  return {
    requestId: request.id, method: methodOf(request), route: routeOf(request),
    ...threadId !== undefined && { threadId }, ...runId !== undefined && { runId },
  }
}

function watch(request: FastifyRequest, { raw }: FastifyReply, { env, heard }: ExchangeParts,
  underWay: { count: number }): void {
  const beganMs = env.monotonicMs()
  underWay.count++
  whenClosed(raw, () => {
    underWay.count--
    const status = raw.headersSent ? String(raw.statusCode) : 'gone'
    const ms = env.monotonicMs() - beganMs
    heard?.({ route: routeOf(request), method: methodOf(request), status, ms })
    env.log.debug('A request is over.', { ...factsOf(request), status, ms: Math.round(ms) })
    if (request.episode !== undefined) endEpisode(request, status)
  })
}

function endEpisode(request: FastifyRequest, status: string): void {
  const { threadId, runId } = subjectOf(request)
  request.episode!.end({
    ...status !== 'gone' && { 'http.response.status_code': Number(status) },
    ...threadId !== undefined && { 'heddle.thread_id': threadId },
    ...runId !== undefined && { 'heddle.run_id': runId },
  }, status.startsWith('5') ? status : undefined)
}

/** Nothing of a request that was turned away: it may be of another region's. */
function subjectOf({ about, caller, params }: FastifyRequest): Partial<RunName> {
  if (about !== undefined) return about
  if ((caller as Caller | undefined) === undefined) return {}
  const { thread_id, run_id } = (params ?? {}) as Readonly<Record<string, unknown>>
  return {
    ...isId(thread_id) && { threadId: thread_id }, ...isId(run_id) && { runId: run_id },
  }
}

function isId(text: unknown): text is string {
  return typeof text === 'string' && IsUuid(text)
}

function methodOf({ method }: FastifyRequest): string {
  return known.has(method) ? method : 'other'
}

function routeOf({ routeOptions }: FastifyRequest): string {
  return routeOptions.url ?? 'none'
}

function traceOf({ headers }: FastifyRequest): string {
  const { traceparent } = headers
  return typeof traceparent === 'string' ? traceparent : ''
}
