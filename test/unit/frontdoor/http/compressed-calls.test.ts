/** Compressed calls of the typed API are refused before they are read, on every protocol. */

import { brotliCompressSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'

import { openDoor } from '../open-front-door.ts'

const path = '/frontdoor.v1.ThreadService/SearchThreads'
const bomb = Buffer.alloc(24 * 1024 * 1024, ' ')

/** A message with the flag for a compressed one. */
function envelope(message: Uint8Array): Buffer {
  const head = Buffer.alloc(5)
  head[0] = 1
  head.writeUInt32BE(message.length, 1)
  return Buffer.concat([head, message])
}

const send = (url: string, headers: Record<string, string>, body: Uint8Array) =>
  fetch(`${url}${path}`, { method: 'POST', headers, body: new Uint8Array(body) })

describe('a compressed call', () => {
  it.each([['br', brotliCompressSync(bomb)], ['gzip', gzipSync(bomb)]])(
    'is refused over Connect: %s',
    async (encoding, body) => {
      const door = await openDoor()
      const answer = await send(door.url, { 'content-type': 'application/json',
        'content-encoding': encoding }, body)
      expect([answer.status, await answer.json()]).toMatchObject([400, { code: 'invalid_argument',
        message: /Compressed calls are not offered/ }])
    },
  )

  it.each([['application/grpc', 'grpc-encoding'], ['application/grpc-web+proto', 'grpc-encoding']])(
    'is refused over %s',
    async (type, name) => {
      const door = await openDoor()
      const answer = await send(door.url, { 'content-type': type, [name]: 'gzip' },
        envelope(gzipSync(bomb)))
      expect(answer.headers.get('grpc-status')).toBe('3')
      expect(decodeURIComponent(answer.headers.get('grpc-message')!)).toMatch(/^Compressed calls/)
    },
  )

  it('is refused if only the message says that it is compressed', async () => {
    const door = await openDoor()
    const answer = await send(door.url, { 'content-type': 'application/grpc-web+proto' },
      envelope(gzipSync(bomb)))
    const status = answer.headers.get('grpc-status') ?? await answer.text()
    expect(status).toMatch(/^(?:[^]*grpc-status: )?3\b/)
  })

  it('is not what a client is asked to send: no encoding is accepted', async () => {
    const door = await openDoor()
    const answer = await send(door.url, { 'content-type': 'application/json',
      'accept-encoding': 'br, gzip' }, Buffer.from('{}'))
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, null])
  })
})
