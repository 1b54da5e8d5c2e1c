/** What the official client finds inside of a graph: the way to its own server, and a log. */

import { formatWithOptions } from 'node:util'

import type { Log } from '../../cluster/index.ts'

/** Used by a client that was given no address. Source: SDK, client/base. */
const ownFetch = Symbol.for('langgraph_api:fetch')
/** What `getLogger()` returns. Source: SDK, logging. */
const ownLog = Symbol.for('langgraph.api.sdk-logger')

/** Awaited, for runs are resumed before the front door opens. */
const origin = Promise.withResolvers<string | undefined>()
let isLoading = true

/** Before any file of the project is imported. */
export function offerClient(log: Log): void {
  Object.assign(globalThis, { [ownFetch]: askOwnServer, [ownLog]: loggerOver(log) })
}

/** The graphs are loaded: from now on a request may wait for the server to open. */
export function clientMayAsk(): void {
  isLoading = false
}

/** Where the server answers clients; undefined where it does not. */
export function serverIsAt(url: string | undefined): void {
  if (url !== undefined) {
    // As the official server has them for graphs that go by themselves.
    process.env['LANGGRAPH_API_URL'] ??= url
    process.env['PORT'] = new URL(url).port || '80'
  }
  origin.resolve(url)
}

/** Refuses by an answer of 409: after an error the client would try again. */
async function askOwnServer(input: string | URL, init?: RequestInit): Promise<Response> {
  // It would wait for itself: the server opens when its graphs are loaded.
  if (isLoading) return refused('This server cannot be asked while its graphs are loaded.')
  const url = await origin.promise
  if (url === undefined) return refused('This server answers no clients: name one by "apiUrl".')
  const { pathname, search } = new URL(input)
  return fetch(new URL(pathname + search, url), init)
}

function refused(detail: string): Response {
  return Response.json({ detail, message: detail }, { status: 409 })
}

/** As `winston` has them, which the official server offers. */
const levels = {
  error: 'error', warn: 'warn', help: 'info', data: 'info', info: 'info', prompt: 'info',
  http: 'info', input: 'info', verbose: 'debug', debug: 'debug', silly: 'debug',
} as const

function loggerOver(log: Log): object {
  const logger = Object.fromEntries(Object.entries(levels).map(([name, level]) =>
    [name, (...words: readonly unknown[]) => {
      log[level](formatWithOptions({ breakLength: Infinity }, ...words))
      return logger
    }]))
  return logger
}
