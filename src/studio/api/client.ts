/** Calls of the API: one way to send them, one kind of error, and who hears of limits. */

import type { ControlFailure } from '../../api/index.ts'
import { callAsDeveloperPage, credentials, signInNeeded } from '../session.ts'
import { isAway, noteAway } from '../away.ts'
import { urlOf } from './place.ts'

/** Any value that JSON can hold. */
export type Json = null | boolean | number | string | readonly Json[] | JsonObject
/** An object of JSON: values by their names. */
export type JsonObject = { readonly [key: string]: Json }

/** Why a graph cannot be loaded, and where in the project. */
export type GraphFailure = ControlFailure

/** A refusal of the server, or no answer at all (status 0). */
export class ApiError extends Error {
  readonly status: number
  /** The server's word for the kind of error, such as `not_found`. */
  readonly code: string
  /** Seconds after which a retry may help; null if the server named none. */
  readonly retryAfterS: number | null
  /** Faults of single fields of the request. */
  readonly fields: readonly { readonly field: string; readonly message: string }[]
  /** The graphs of a project that cannot be loaded. */
  readonly graphs: readonly GraphFailure[]
  /** Another address that has the resource, as for a key of another region; null for none. */
  readonly url: string | null

  constructor(status: number, message: string, details: Partial<ApiError> = {}) {
    super(message)
    this.name = 'ApiError'
    this.status = status
    this.code = details.code ?? 'unknown'
    this.retryAfterS = details.retryAfterS ?? null
    this.fields = details.fields ?? []
    this.graphs = details.graphs ?? []
    this.url = details.url ?? null
  }
}

/** One call. `path` begins with a slash. */
export interface Call {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly body?: unknown
  /** Fields and files, instead of a body of JSON. */
  readonly form?: FormData
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** Asks also while the server is away: other questions are not sent then, acts are. */
  readonly isProbe?: boolean
}

/** The state of the limit that a call was charged to: the headers of its answer. */
export interface SeenLimit {
  readonly limit: string
  readonly policy: string
}

const listeners = new Set<(seen: SeenLimit) => void>()

/** Tells of the limit of each answer. Returns what ends it. */
export function onLimit(listener: (seen: SeenLimit) => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The server's words for single fields; empty for any other error. */
export function fieldFaults(error: unknown): Readonly<Record<string, string>> {
  if (!(error instanceof ApiError)) return {}
  return Object.fromEntries(error.fields.map(({ field, message }) => [field, message]))
}

/** True while the page is left: what it still sends is to arrive. */
let isLeft = false
globalThis.addEventListener?.('pagehide', () => isLeft = true)
globalThis.addEventListener?.('pageshow', () => isLeft = false)

/** Sends a request. Throws ApiError for every refusal, and if there is no answer. */
export async function send(path: string, call: Call = {}): Promise<Response> {
  const { signal } = call
  const response = await answerTo(path, call)
  const limit = response.headers.get('ratelimit')
  const policy = response.headers.get('ratelimit-policy')
  if (limit !== null && policy !== null) { for (const each of listeners) each({ limit, policy }) }
  if (response.ok) return response
  const error = await errorOf(response)
  // Nobody waits for the answer any more, and its words may be lost.
  if (signal?.aborted) throw signal.reason
  if (error.status === 401) signInNeeded(error.message)
  if (error.status === 403 && error.url !== null) signInNeeded(error.message, error.url)
  throw error
}

/** The answer. One that is refused without a credential is asked for as the page of developers. */
async function answerTo(path: string, call: Call): Promise<Response> {
  const given = credentials()
  const answer = await fetched(path, call, given)
  const isRefused = answer.status === 401 || answer.status === 403
  if (!isRefused || Object.keys(given).length > 0) return answer
  callAsDeveloperPage()
  return await fetched(path, call, credentials())
}

async function fetched(path: string, call: Call,
  given: Readonly<Record<string, string>>): Promise<Response> {
  const { method = 'GET', body, form, headers, signal, isProbe = false } = call
  // What can be called off only reads, also by POST.
  if (isAway() && (method === 'GET' || signal != null) && !isProbe) throw noAnswer()
  const answer = await fetch(urlOf(path), {
    method,
    signal: signal ?? null,
    keepalive: isLeft,
    headers: { ...given, ...headers,
      ...body !== undefined && { 'content-type': 'application/json' } },
    ...body !== undefined && { body: JSON.stringify(body) },
    ...form !== undefined && { body: form },
  }).catch((error: unknown) => {
    if (signal?.aborted) throw error
    noteAway(true)
    throw noAnswer()
  })
  noteAway(false)
  return answer
}

const noAnswer = () => new ApiError(0, 'The server does not answer.', { code: 'no_answer' })

/** The JSON of an answer with its headers: of a page of a list. Throws ApiError. */
export async function askPage<Answer>(path: string,
  call: Call = {}): Promise<{ readonly data: Answer; readonly headers: Headers }> {
  const response = await send(path, call)
  const text = await response.text()
  return { data: (text === '' ? null : JSON.parse(text)) as Answer, headers: response.headers }
}

async function errorOf(response: Response): Promise<ApiError> {
  const text = await response.text().catch(() => '')
  const body = parsed(text)
  const retryAfterS = Number(response.headers.get('retry-after')) || null
  const message = typeof body['detail'] === 'string'
    ? body['detail']
    : `The server answered ${response.status} ${response.statusText}.`
  return new ApiError(response.status, message, { retryAfterS,
    code: String(body['code'] ?? 'unknown'),
    fields: Array.isArray(body['errors']) ? body['errors'] : [],
    graphs: Array.isArray(body['graphs']) ? body['graphs'] : [],
    url: typeof body['url'] === 'string' ? body['url'] : null })
}

function parsed(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value as Record<string, unknown> : {}
  } catch {
    return {}
  }
}
