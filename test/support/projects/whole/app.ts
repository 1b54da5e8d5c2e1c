/** The routes of the bakery, its middleware around the server's routes, and a WebSocket. */

import { createHash, createHmac } from 'node:crypto'
import type { EventEmitter } from 'node:events'

import { Client } from '@langchain/langgraph-sdk'
import { Hono } from 'hono'
import { streamSSE } from 'hono/streaming'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'

interface Variables {
  readonly auth: { readonly user: { readonly identity: string; readonly team: string } }
}

export const app = new Hono<{ Variables: Variables }>()

app.use('/threads/*', async (c, next) => {
  await next()
  c.header('x-bakery', 'wrapped')
})

app.get('/bakery/user', (c) => c.json({ user: c.var.auth.user, path: c.req.path }))

/** Signs what it is sent, and says how much that was. */
app.post('/bakery/sign', async (c) => {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of c.req.raw.body ?? []) {
    hash.update(chunk)
    bytes += chunk.length
  }
  const signature = createHmac('sha256', process.env['BAKERY_SECRET'] ?? '').update(hash.digest())
  return c.json({ bytes, signature: signature.digest('hex') })
})

app.post('/bakery/echo', (c) => new Response(c.req.raw.body))

/** Reads nothing until the URL in its query answers. Then it says how much there was. */
app.post('/bakery/wait', async (c) => {
  await fetch(c.req.query('url')!)
  let bytes = 0
  for await (const chunk of c.req.raw.body ?? []) bytes += chunk.length
  return c.json({ bytes })
})

/** So many pieces of a megabyte. */
app.get('/bakery/pieces', (c) => {
  let left = Number(c.req.query('count'))
  const piece = new Uint8Array(1_000_000)
  return new Response(new ReadableStream({ pull: (sink) => {
    if (left-- > 0) sink.enqueue(piece)
    else sink.close()
  } }, { highWaterMark: 0 }))
})

app.get('/bakery/lines', (c) =>
  streamSSE(c, async (stream) => {
    for (const data of ['first', 'second', 'third']) await stream.writeSSE({ data })
  }))

/** The threads of its caller, by a client without an address. */
app.get('/bakery/threads', async (c) => {
  const found = await new Client().threads.search()
  return c.json(found.map(({ thread_id: id }) => id).toSorted())
})

app.get('/bakery/fault', () => {
  throw new Error(`It holds ${process.env['BAKERY_SECRET']}.`)
})

/** Takes WebSockets at `/bakery/socket`, which say what they hear. */
export const injectWebSocket = (server: EventEmitter) => {
  const sockets = new WebSocketServer({ noServer: true })
  server.on('upgrade', (request, socket, head) => {
    if (request.url !== '/bakery/socket') return void socket.destroy()
    sockets.handleUpgrade(request, socket, head,
      (each: WebSocket) => each.on('message', (text) => each.send(`heard ${String(text)}`)))
  })
}
app.get('/bakery/socket', (c) => c.text('A WebSocket.', 426))
