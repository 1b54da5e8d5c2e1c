/** Asks the control API of a server over HTTP. */

import { Backoff } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { Answered, Asked, Route } from '../../api/index.ts'
import type { GraphFailure } from '../../deployment/index.ts'
import { messageOf } from '../../errors.ts'
import { memberOf, objectOf, textAt, valueIn } from '../../json/index.ts'
import { ControlError, NoAnswerError } from './control-error.ts'

/** Server to ask, and the key of the caller. */
export interface ControlTarget {
  /** Without a slash at its end. */
  readonly url: string
  /** An API key; undefined if the server asks for none. */
  readonly key: string | undefined
  /** True if the server was found at the usual place of this machine, without being named. */
  readonly isFound?: boolean
  /**
   * The way in which the server was found, as the end of a sentence for when it does not answer.
   */
  readonly hint: string
  readonly env: Env
}

/** The parts of a request to the control API, and how it is sent. */
export type ControlRequest<Of extends Route> = Asked<Of> & Sending

interface Sending {
  /** A body that is no JSON. */
  readonly bytes?: Uint8Array
  readonly headers?: Readonly<Record<string, string>>
  /** Milliseconds that the answer may take; 30 000 by default. */
  readonly withinMs?: number
  /** True if doing it twice is the same as once; all reads are so. */
  readonly isRepeatable?: boolean
  /** Ends the request, and what is read of its answer. */
  readonly signal?: AbortSignal
}

/** A client of the control API. It throws ControlError and NoAnswerError. */
export interface ControlClient {
  readonly url: string
  /** Resolves with the JSON of the answer; undefined without one. */
  ask<Of extends Route>(route: Of, request: ControlRequest<Of>): Promise<Answered<Of>>
  /** Resolves with an answer that is still being read. */
  open<Of extends Route>(route: Of, request: ControlRequest<Of>): Promise<Response>
}

const usualMs = 30_000

/** Tries of a request. Behind a balancer whose members change, one of them mostly succeeds. */
const triesMax = 5
/**
 * Milliseconds for which requests to a server that has answered are repeated: it may be restarting.
 */
const restartMs = 60_000
const pauses = { firstMs: 200, longestMs: 3_000 } as const

/** Statuses of proxies and of servers that are going away. Another try may reach another server. */
const passing: readonly number[] = [502, 503, 504]

/** Opens a client. Nothing is asked yet. */
export function controlClient(target: ControlTarget): ControlClient {
  const asking = { ...target, hasAnswered: false }
  return {
    url: target.url,
    ask: async <Of extends Route>(route: Of, request: ControlRequest<Of>) =>
      await repeated(asking, { route, ...request }, (answer) => jsonOf(answer, target)) as Answered<
        Of
      >,
    open: (route, request) => repeated(asking, { route, ...request }, async (answer) => answer),
  }
}

interface Request extends Sending {
  readonly route: Route
  readonly params?: object
  readonly query?: object
  readonly body?: unknown
}

type ReadAnswer<T> = (answer: Response) => Promise<T>

interface Asking extends ControlTarget {
  /** True if any request was answered before. */
  hasAnswered: boolean
}

/** Repeats a request while the server does not answer, if that is safe. */
async function repeated<T>(target: Asking, request: Request, read: ReadAnswer<T>): Promise<T> {
  const { route, isRepeatable = route.startsWith('GET '), signal } = request
  const { env } = target
  const endMs = env.monotonicMs() + restartMs
  const backoff = new Backoff(env, pauses)
  for (let tries = 1;; tries++) {
    try {
      return await once(target, request, read)
    } catch (error) {
      const isUnsent = error instanceof NoAnswerError && !error.sent
      // A server that never answered will not do so in a second: fail at once.
      const mayRepeat = isUnsent
        ? target.hasAnswered && env.monotonicMs() < endMs
        : isRepeatable && tries < triesMax &&
          (error instanceof NoAnswerError || isUnavailable(error))
      if (!mayRepeat || signal?.aborted) throw error
      await backoff.pause()
    }
  }
}

function isUnavailable(error: unknown): boolean {
  return error instanceof ControlError && (error.code === 'unavailable' || error.code === 'proxy')
}

async function once<T>(target: Asking, request: Request, read: ReadAnswer<T>): Promise<T> {
  const { env, url, hint } = target
  const { withinMs = usualMs, signal } = request
  const late = new AbortController()
  const stopWaiting = env.after(withinMs, () => late.abort())
  try {
    const answer = await fetch(urlOf(url, request), { ...init(target, request),
      signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]) })
    target.hasAnswered = true
    if (!answer.ok) throw await errorOf(answer, target)
    // A followed answer has no end of its own, so no time limit.
    if (request.signal !== undefined) stopWaiting()
    return await read(answer)
  } catch (error) {
    if (error instanceof ControlError || error instanceof NoAnswerError) throw error
    if (late.signal.aborted) {
      throw new NoAnswerError(
        `The server at ${url} did not answer within ${Math.round(withinMs / 1_000)} s.`,
        true,
      )
    }
    throw noAnswer(error, url, hint)
  } finally {
    stopWaiting()
  }
}

function urlOf(url: string, { route, params = {}, query = {} }: Request): string {
  const path = Object.entries(params).reduce(
    (rest, [name, value]) => rest.replace(`:${name}`, encodeURIComponent(String(value))),
    route.slice(route.indexOf(' ') + 1),
  )
  const given = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined) given.set(name, String(value))
  }
  const search = given.toString()
  return `${url}${path}${search === '' ? '' : `?${search}`}`
}

function init({ key }: ControlTarget, { route, body, bytes, headers }: Request): RequestInit {
  const [method = 'GET'] = route.split(' ')
  const type = bytes === undefined ? 'application/json' : 'application/octet-stream'
  const content = bytes ?? (body === undefined ? undefined : JSON.stringify(body))
  return { method, redirect: 'error',
    headers: { ...key !== undefined && { 'x-api-key': key }, ...content !== undefined &&
      { 'content-type': type }, ...headers },
    ...content !== undefined && { body: content as NonNullable<RequestInit['body']> } }
}

async function jsonOf(answer: Response, { url }: ControlTarget): Promise<unknown> {
  const text = await answer.text()
  if (text === '') return undefined
  try {
    return valueIn(text)
  } catch {
    throw strange(url)
  }
}

/** The error of an answer, from a server of ours or from a proxy before it. */
async function errorOf(answer: Response, { url, key }: ControlTarget): Promise<Error> {
  const text = await answer.text()
  const { error, message, graphs } = objectIn(text)
  if (answer.status === 401) {
    return new ControlError('unauthenticated', key === undefined
      ? `The server at ${url} asks for an API key: make one of the role deployer with "heddle ` +
        'keys create", and give it as --key or HEDDLE_API_KEY.'
      : `The server at ${url} does not know this API key: make another with "heddle keys create".`)
  }
  if (typeof error === 'string' && typeof message === 'string') {
    return new ControlError(error, message,
      Array.isArray(graphs) ? graphs as readonly GraphFailure[] : [])
  }
  if (passing.includes(answer.status)) {
    return new ControlError('proxy', `The server behind ${url} does not answer now ` +
      `(status ${answer.status}): try again in a moment.`)
  }
  return answer.status === 404
    ? strange(url)
    : new ControlError('',
      `${url} answered with status ${answer.status}, which no server of Heddle does.`)
}

function strange(url: string): ControlError {
  return new ControlError('', `There is no control API at ${url}: it is the address of something ` +
    'else, or of an older server.')
}

function objectIn(text: string): Readonly<Record<string, unknown>> {
  try {
    return objectOf(valueIn(text))
  } catch {
    return {}
  }
}

/** Errors of connections that were never made. */
const notConnected: readonly string[] = ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH',
  'ENETUNREACH', 'UND_ERR_CONNECT_TIMEOUT', 'ERR_SSL_WRONG_VERSION_NUMBER']

function noAnswer(error: unknown, url: string, hint: string): NoAnswerError {
  const cause = memberOf(error, 'cause')
  const code = textAt(cause, 'code') ?? ''
  if (notConnected.includes(code)) {
    return new NoAnswerError(`No server answers at ${url} (${code})${hint}`, false)
  }
  const reason = code || textAt(cause, 'message') || messageOf(error)
  return new NoAnswerError(`The connection to ${url} ended before the answer (${reason}).`, true)
}
