/** A server that answers in the ways that are hard for what stands between, and counts requests. */

import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { brotliCompressSync, gzipSync } from 'node:zlib'

/** A stub that a test must close. */
export interface CallStub {
  readonly url: string
  /** Requests so far. */
  hits(): number
  /** The bytes of the body that it sent last. */
  sent(): Buffer
  close(): void
}

const text = 'It was a bright cold day in April. '.repeat(200)

type Way = (request: IncomingMessage, send: Send) => void | Promise<void>

interface Send {
  head(status: number, headers?: Record<string, string>): void
  chunk(bytes: Buffer): Promise<void>
  end(): void
  cut(): void
}

const ways: Readonly<Record<string, Way>> = {
  '/plain': whole({}, Buffer.from(text)),
  '/gzip': whole({ 'content-encoding': 'gzip' }, gzipSync(text)),
  '/brotli': whole({ 'content-encoding': 'br' }, brotliCompressSync(text)),
  '/nothing': (_, send) => {
    send.head(204, { 'x-kind': 'nothing' })
    send.end()
  },
  '/unchanged': (_, send) => {
    send.head(304, { etag: '"1"' })
    send.end()
  },
  '/moved': (_, send) => {
    send.head(302, { location: '/plain' })
    send.end()
  },
  '/failed': whole({ 'x-kind': 'failed' }, Buffer.from('{"error":"busy"}'), 503),
  '/echo': async (request, send) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    send.head(200, { 'content-type': request.headers['content-type'] ?? 'none',
      'x-key': String(request.headers['x-key'] ?? '') })
    await send.chunk(Buffer.concat(chunks))
    send.end()
  },
  '/pieces': async (_, send) => {
    send.head(200, { 'content-type': 'text/event-stream' })
    for (let at = 0; at < 200; at++) await send.chunk(Buffer.from(`data: piece ${at}\n\n`))
    send.end()
  },
  '/large': async (_, send) => {
    send.head(200)
    for (let at = 0; at < 512; at++) await send.chunk(Buffer.alloc(64 * 1024, at))
    send.end()
  },
  '/endless': async (_, send) => {
    send.head(200)
    await send.chunk(Buffer.from('and so on'))
  },
  '/cut': async (_, send) => {
    send.head(200, { 'content-length': '1000' })
    await send.chunk(Buffer.from('only this'))
    send.cut()
  },
  '/reset': (_, send) => send.cut(),
}

/** Opens a stub on a free port of this machine. */
export async function openCallStub(): Promise<CallStub> {
  let hits = 0
  let sent: Buffer[] = []
  // A connection that is closed just when a client uses it again would fail a test.
  const server = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    hits += 1
    sent = []
    const { pathname } = new URL(request.url ?? '/', 'http://stub.test')
    const way = ways[pathname] ?? whole({}, Buffer.from('none'), 404)
    void Promise.resolve(way(request, senderOf(response, (bytes) => sent.push(bytes))))
      .catch(() => response.destroy())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hits: () => hits,
    sent: () => Buffer.concat(sent),
    close: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}

function whole(headers: Record<string, string>, body: Buffer, status = 200): Way {
  return async (request, send) => {
    send.head(status, { ...headers, 'content-length': String(body.byteLength) })
    if (request.method !== 'HEAD') await send.chunk(body)
    send.end()
  }
}

function senderOf(response: ServerResponse, note: (bytes: Buffer) => void): Send {
  return {
    head: (status, headers = {}) => void response.writeHead(status, headers).flushHeaders(),
    chunk: async (bytes) => {
      note(bytes)
      if (!response.write(bytes))
        await Promise.race([once(response, 'drain'), once(response, 'close')])
    },
    end: () => void response.end(),
    // What was written leaves first.
    cut: () => void response.socket?.end(() => response.destroy()),
  }
}
