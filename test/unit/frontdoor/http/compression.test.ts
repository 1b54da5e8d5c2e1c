/** Long answers are compressed for clients that read gzip, and for no others. */

import { promisify } from 'node:util'
import { gunzipSync, gzip } from 'node:zlib'

import { fastify } from 'fastify'
import type { FastifyReply } from 'fastify'
import { describe, expect, it, onTestFinished } from 'vitest'

import { compressAnswers } from '../../../../src/frontdoor/http/compression.ts'

import { dial } from '../../../support/wire.ts'
import { viewOf } from '../fake-threads.ts'
import { openDoor } from '../open-front-door.ts'
import type { OpenDoor } from '../open-front-door.ts'

const threadId = '00000000-0000-4000-8000-000000000000'

async function doorWith(length: number): Promise<OpenDoor> {
  const door = await openDoor()
  const values = JSON.stringify({ long: 'x😀'.repeat(length / 3), last: 'z' })
  door.threads.views.set(threadId, viewOf('local', threadId, {}, values))
  return door
}

/** The answer as it comes over the wire, without what a client would do to it. */
async function bytesOf(door: OpenDoor, headers: Record<string, string>) {
  const socket = await dial(door.url)
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`).join('')
  socket.write(`GET /threads/${threadId} HTTP/1.0\r\nhost: localhost\r\n${lines}\r\n`)
  const chunks: Buffer[] = []
  for await (const chunk of socket) chunks.push(chunk as Buffer)
  const all = Buffer.concat(chunks)
  const at = all.indexOf('\r\n\r\n')
  return { head: all.subarray(0, at).toString().toLowerCase(), body: all.subarray(at + 4) }
}

describe.each([['sent whole', 300_000], ['sent in pieces', 3_000_000]])(
  'a long answer %s',
  (_how, length) => {
    it('is compressed, and says that it depends on what the client reads', async () => {
      const door = await doorWith(length)
      const plain = await bytesOf(door, {})
      const short = await bytesOf(door, { 'accept-encoding': 'br;q=1, gzip;q=0.8' })
      expect(short.head).toContain('content-encoding: gzip')
      expect(plain.head).not.toContain('content-encoding')
      expect([plain.head, short.head].every((head) => /\nvary: .*accept-encoding/.test(head)))
        .toBe(true)
      expect(gunzipSync(short.body).equals(plain.body)).toBe(true)
      expect(short.body.length).toBeLessThan(plain.body.length / 10)
    })

    it.each(['gzip;q=0', 'br', 'identity', 'gzipped', ';;,=q'])(
      'is sent as it is to a client that reads %s',
      async (accepted) => {
        const { head, body } = await bytesOf(await doorWith(length), {
          'accept-encoding': accepted,
        })
        expect(head).not.toContain('content-encoding')
        expect((JSON.parse(body.toString()) as { values: object }).values)
          .toMatchObject({ last: 'z' })
      },
    )
  },
)

it('sends a short answer as it is', async () => {
  const { head } = await bytesOf(await doorWith(30), { 'accept-encoding': 'gzip' })
  expect([head.includes('content-encoding'), head.includes('accept-encoding')])
    .toEqual([false, false])
})

it('never compresses a stream of events, of which each is sent at once', async () => {
  const door = await openDoor()
  const stream = await fetch(`${door.url}/runs/stream`, { method: 'POST',
    headers: { 'content-type': 'application/json', 'accept-encoding': 'gzip' },
    body: '{"assistant_id":"agent"}' })
  expect(stream.headers.get('content-encoding')).toBe(null)
  const { lastRun } = door.threads
  lastRun.notify([{ id: '1', name: 'values', json: `"${'x'.repeat(100_000)}"` }])
  const reader = stream.body!.getReader()
  let read = ''
  while (!read.includes('xxx"')) {
    read += Buffer.from((await reader.read()).value!).toString()
  }
  lastRun.end()
  await reader.cancel()
})

describe.each([
  ['its client has left', ({ raw }: FastifyReply) => void raw.destroy()],
  ['it was ended by something else', ({ raw }: FastifyReply) => void raw.writeHead(204).end()],
])('an answer that is being compressed when %s', (_how, end) => {
  it('is not sent, as that would end the server', async () => {
    const app = fastify()
    let sent = 0
    app.addHook('onSend', async (_request, reply) => end(reply))
    compressAnswers(app)
    app.addHook('onSend', async () => void sent++)
    app.get('/', async () => ({ long: 'x'.repeat(100_000) }))
    const url = await app.listen({ host: '127.0.0.1', port: 0 })
    onTestFinished(() => app.close())
    await fetch(url, { headers: { 'accept-encoding': 'gzip' } }).catch(() => undefined)
    // What is begun later, and is longer, ends later.
    await promisify(gzip)('y'.repeat(10_000_000))
    expect(sent).toBe(0)
  })
})
