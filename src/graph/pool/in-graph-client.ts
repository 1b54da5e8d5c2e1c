/**
 * The two things that the official client finds inside a graph: a fetch to its own server, and a
 * logger.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import { formatWithOptions } from 'node:util'

import type { Log } from '../../../cluster/index.ts'

/** Name under which a client without an address looks for its fetch. Source: SDK, client/base. */
const ownFetch = Symbol.for('langgraph_api:fetch')
/** Name under which `getLogger()` looks for its result. Source: SDK, logging. */
const ownLog = Symbol.for('langgraph.api.sdk-logger')

/** The server's URL. It is a promise, as runs are resumed before the front door opens. */
const origin = Promise.withResolvers<string | undefined>()
let isLoading = true
let ownUrl: URL | undefined
/** The key of the run whose code is executed. */
const keys = new AsyncLocalStorage<string>()

/**
 * Sets up the client, with a logger that writes to `log`. Call before any file of the project is
 * imported.
 */
export function offerClient(log: Pick<Log, typeof levels[keyof typeof levels]>): void {
  Object.assign(globalThis, { [ownFetch]: askOwnServer, [ownLog]: loggerOver(log),
    fetch: keyedFetch(fetch) })
}

/** Does work of a run, whose requests to its own server have the key; undefined without keys. */
export function callingWith<Result>(key: string | undefined,
  work: () => Promise<Result>): Promise<Result> {
  return key === undefined ? work() : keys.run(key, work)
}

/** Lets requests of the client wait for the server to open. Call when the graphs are loaded. */
export function clientMayAsk(): void {
  isLoading = false
}

/** Sets the URL at which the server answers clients; undefined if it does not. */
export function serverIsAt(url: string | undefined): void {
  if (url !== undefined) {
    // The official server sets these, for graphs that call it without the client.
    process.env['LANGGRAPH_API_URL'] ??= url
    ownUrl = new URL(url)
    process.env['PORT'] = ownUrl.port || '80'
  }
  origin.resolve(url)
}

/**
 * Sends a request to the own server. Refuses with a 409, because the client retries other errors.
 */
async function askOwnServer(input: string | URL, init?: RequestInit): Promise<Response> {
  // The request would wait for itself: the server opens only when its graphs are loaded.
  if (isLoading) return refused('This server cannot be asked while its graphs are loaded.')
  const url = await origin.promise
  if (url === undefined) return refused('This server answers no clients: name one by "apiUrl".')
  const { pathname, search } = new URL(input)
  return fetch(`${url.replace(/\/$/, '')}${pathname}${search}`, init)
}

/** Adds the key of the run to requests of its own server that bring no key of it. */
function keyedFetch(plain: typeof fetch): typeof fetch {
  return (input, init) => {
    const key = keys.getStore()
    if (key === undefined || !isOwn(input instanceof Request ? input.url : input)) {
      return plain(input, init)
    }
    const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : {}))
    if (!bringsOwnKey(headers)) headers.set('x-api-key', key)
    return plain(input, { ...init, headers })
  }
}

/** A client sends the key of another service that it finds in the environment. */
function bringsOwnKey(headers: Headers): boolean {
  return headers.has('authorization') || headers.get('x-api-key')?.startsWith('hdl_') === true
}

/** Names of this machine, by which code that knows PORT calls its server. */
const here = ['localhost', '127.0.0.1', '[::1]']

/** True for a URL of this server, as code of a graph may write it. */
export function isOwn(input: string | URL): boolean {
  if (ownUrl === undefined || !URL.canParse(String(input))) return false
  const { protocol, hostname, port } = new URL(input)
  return protocol === ownUrl.protocol && port === ownUrl.port
    && [...here, ownUrl.hostname].includes(hostname)
}

function refused(detail: string): Response {
  return Response.json({ detail, message: detail }, { status: 409 })
}

/** The levels of `winston`, which the official server offers. */
const levels = {
  error: 'error',
  warn: 'warn',
  help: 'info',
  data: 'info',
  info: 'info',
  prompt: 'info',
  http: 'info',
  input: 'info',
  verbose: 'debug',
  debug: 'debug',
  silly: 'debug',
} as const

function loggerOver(log: Parameters<typeof offerClient>[0]): object {
  const logger = Object.fromEntries(
    Object.entries(levels).map(([name, level]) => [name, (...words: readonly unknown[]) => {
      log[level](formatWithOptions({ breakLength: Infinity }, ...words))
      return logger
    }]),
  )
  return logger
}
