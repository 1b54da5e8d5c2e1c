/** Pages of the newer API: as JSON, or as server-sent events for those who accept these. */

import { Readable } from 'node:stream'

import type { FastifyReply, FastifyRequest } from 'fastify'

import { sendBytes } from './platform-route.ts'

const [newline, carriageReturn, space] = [10, 13, 32]
/** Bytes that are made ready at a time: more would hold up other requests. */
const pieceBytes = 128 * 1024

/** Sends a page. As events it is one `data`, and an `end` behind it. */
export function sendPage(request: FastifyRequest, reply: FastifyReply,
  json: Uint8Array): FastifyReply {
  const { headers, caller: { tenant } } = request
  if (!/\btext\/event-stream\b/i.test(headers.accept ?? '')) return sendBytes(reply, json)
  reply.server.unread.hold(reply.raw, json, tenant)
  return reply.type('text/event-stream')
    .send(Readable.from(eventsOf(json), { objectMode: false, highWaterMark: pieceBytes }))
}

function* eventsOf(json: Uint8Array): Generator<Uint8Array, void, void> {
  yield Buffer.from('event: data\ndata: ')
  for (let at = 0; at < json.byteLength; at += pieceBytes) {
    yield inOneLine(json.subarray(at, at + pieceBytes))
  }
  yield Buffer.from('\n\nevent: end\ndata: {}\n\n')
}

/** Line breaks in JSON are between values, where a space means the same. */
function inOneLine(json: Uint8Array): Uint8Array {
  return json.map((byte) => (byte === newline || byte === carriageReturn ? space : byte))
}
