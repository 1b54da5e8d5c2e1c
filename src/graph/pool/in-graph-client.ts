/** What the official client uses inside a graph: a fetch to its own server, and a logger. */

import { formatWithOptions } from 'node:util'

import type { Log } from '../../../cluster/index.ts'

/** Where a client without an address looks for its fetch. Source: SDK, client/base. */
const ownFetch = Symbol.for('langgraph_api:fetch')
/** What `getLogger()` returns. Source: SDK, logging. */
const ownLog = Symbol.for('langgraph.api.sdk-logger')

/** The server's URL. It is a promise, as runs are resumed before the front door opens. */
const origin = Promise.withResolvers<string | undefined>()
let isLoading = true

/**
 * Sets up the client, with a logger that writes to `log`. Call before any file of the project is
 * imported.
 */
export function offerClient(log: Pick<Log, typeof levels[keyof typeof levels]>): void {
  Object.assign(globalThis, { [ownFetch]: askOwnServer, [ownLog]: loggerOver(log) })
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
    process.env['PORT'] = new URL(url).port || '80'
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
  return fetch(new URL(pathname + search, url), init)
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
