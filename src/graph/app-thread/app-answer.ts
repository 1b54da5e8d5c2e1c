/** Requests and answers of an app: from Node to the web's own classes, and back. */

import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'

import { appHeaders, headerPairs, isAppHeader, passedOn } from '../app/app-headers.ts'
import { drained } from '../drained.ts'

/**
 * The request as the app gets it: of the headers of the front door, only the user is there.
 * Undefined for one whose address is none.
 */
export function webRequestOf(request: IncomingMessage, signal: AbortSignal): Request | undefined {
  const { method = 'GET', url = '/', headers: { host = 'localhost' } } = request
  const address = `http://${host}${url}`
  if (!URL.canParse(address)) return undefined
  const headers = new Headers()
  for (const [name, value] of passedOn(headerPairs(request.rawHeaders))) {
    if (!isAppHeader(name) || name === appHeaders.user) headers.append(name, value)
  }
  const hasBody = method !== 'GET' && method !== 'HEAD'
  const init = { method, headers, signal,
    ...hasBody && { body: Readable.toWeb(request), duplex: 'half' } }
  return new Request(address, init as RequestInit)
}

/**
 * Sends an answer as it comes, no faster than its client reads. Rejects if the app breaks it off;
 * the connection is cut then, as a clean end would mean a whole answer.
 */
export async function sendAnswer(answer: Response, response: ServerResponse): Promise<void> {
  response.writeHead(statusOf(answer), headersOf(answer))
  const reader = answer.body?.getReader()
  if (reader === undefined) return void response.end()
  response.once('close', () => {
    if (!response.writableFinished) void reader.cancel().catch(() => {})
  })
  try {
    let next = reader.read()
    // An answer that is there goes out whole, and one that is awaited shows its headers now.
    if (await isPending(next)) response.flushHeaders()
    for (;;) {
      const { done, value } = await next
      if (done || response.destroyed) break
      if (!response.write(bytesOf(value))) await drained(response)
      next = reader.read()
    }
    response.end()
  } catch (error) {
    response.destroy()
    throw error
  }
}

function statusOf({ status }: Response): number {
  if (Number.isInteger(status) && status >= 200 && status <= 599) return status
  throw new TypeError(`The app answered with the status ${String(status)}.`)
}

/** Headers in pairs, each cookie in its own. Those of a connection are ours. */
function headersOf({ headers }: Response): string[] {
  const pairs = [...headers].filter(([name]) => name !== 'set-cookie')
  const cookies = headers.getSetCookie().map((value): [string, string] => ['set-cookie', value])
  return passedOn([...pairs, ...cookies]).flat()
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  throw new TypeError('The body of an answer has what is no bytes.')
}

async function isPending(promise: Promise<unknown>): Promise<boolean> {
  const soon = new Promise<true>((resolve) => setImmediate(() => resolve(true)))
  return await Promise.race([promise.then(() => false, () => false), soon])
}
