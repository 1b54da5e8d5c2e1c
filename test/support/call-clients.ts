/** Clients that Node and this repository bring, as a test asks with them. */

import { Agent, request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { Readable } from 'node:stream'
import { brotliDecompressSync, gunzipSync } from 'node:zlib'

import * as undici from 'undici'

/** What a client asks for. */
export interface Asked {
  readonly method?: string
  readonly body?: string | Readable
  readonly headers?: Record<string, string>
  readonly signal?: AbortSignal
}

/** What a client has got. */
export interface Got {
  readonly status: number
  readonly type: string | null
  readonly text: string
}

/** Asks for a URL, and follows redirects if it does so by itself. */
export type CallingClient = (url: string, asked?: Asked) => Promise<Got>

const keepAlive = new Agent({ keepAlive: true, maxSockets: 1 })
const ownAgent = new undici.Agent({ connections: 1 })
const retrying = new undici.RetryAgent(new undici.Agent(), { maxRetries: 0 })

/** By name. */
export const callClients: Readonly<Record<string, CallingClient>> = {
  fetch: (url, asked) => fetching(fetch, url, asked),
  'fetch with an agent of its own': (url, asked) =>
    fetching(undici.fetch, url, asked, { dispatcher: ownAgent }),
  'undici.fetch': (url, asked) => fetching(undici.fetch, url, asked),
  'undici.request': (url, asked) => requesting(url, asked, {}),
  'an agent that retries': (url, asked) => requesting(url, asked, { dispatcher: retrying }),
  'http.request': (url, asked) => plain(url, asked, {}),
  'http.request without an agent': (url, asked) => plain(url, asked, { agent: false }),
  'http.request with an agent of its own': (url, asked) => plain(url, asked, { agent: keepAlive }),
}

async function fetching(ask: unknown, url: string, { body, ...asked }: Asked = {},
  more: object = {}): Promise<Got> {
  const stream = body instanceof Readable
  const response = await (ask as typeof fetch)(url,
    { ...asked, ...more, ...body !== undefined && { body: stream ? Readable.toWeb(body) : body },
      ...stream && { duplex: 'half' } } as RequestInit)
  return { status: response.status, type: response.headers.get('content-type'),
    text: await response.text() }
}

async function requesting(url: string, { method = 'GET', ...asked }: Asked = {},
  more: object): Promise<Got> {
  const { statusCode: status, headers, body } = await undici.request(url, { ...asked, ...more,
    method: method as 'GET' })
  const bytes = Buffer.from(await body.arrayBuffer())
  return { status, type: String(headers['content-type'] ?? null),
    text: opened(bytes, headers['content-encoding']) }
}

function plain(url: string, { body, ...asked }: Asked = {}, more: object): Promise<Got> {
  const { promise, resolve, reject } = Promise.withResolvers<Got>()
  const sent = request(url, { ...asked, ...more })
  sent.on('error', reject).on('response', (response: IncomingMessage) => {
    const chunks: Buffer[] = []
    response.on('data', (chunk: Buffer) => chunks.push(chunk)).on('error', reject).on('end',
      () =>
        resolve({ status: response.statusCode ?? 0, type: response.headers['content-type'] ?? null,
          text: opened(Buffer.concat(chunks), response.headers['content-encoding']) }))
  })
  if (body instanceof Readable) body.pipe(sent)
  else sent.end(body)
  return promise
}

function opened(bytes: Buffer, encoding: unknown): string {
  const plainBytes = bytes.byteLength === 0
    ? bytes
    : encoding === 'gzip'
    ? gunzipSync(bytes)
    : encoding === 'br'
    ? brotliDecompressSync(bytes)
    : bytes
  return plainBytes.toString()
}
