/**
 * Long answers are compressed for clients that read gzip. Node does it in threads of its own, so no
 * other request waits for it. Streams of events are never compressed: an event must not wait in a
 * buffer for the next one.
 */

import { pipeline } from 'node:stream'
import type { Writable } from 'node:stream'
import { createGzip, gzip } from 'node:zlib'

import { negotiate } from '@fastify/accept-negotiator'
import type { FastifyInstance, FastifyReply } from 'fastify'

import type { AnyResponse } from './ending.ts'

/** Characters above which the shorter way is worth the work. */
const longLength = 32 * 1024

/** The fastest level: higher ones make the text little shorter, and take several times as long. */
const options = { level: 1 }

/** Compresses JSON answers above 32,768 characters that are sent as one text. */
export function compressAnswers(app: FastifyInstance): void {
  app.addHook('onSend', (_request, reply, payload, done) => {
    const isLong = typeof payload === 'string' && payload.length > longLength
    if (!isLong || !isJson(reply) || !chooseGzip(reply)) return done(null, payload)
    reply.removeHeader('content-length')
    gzip(payload, options, (error, body) => {
      // The client has left meanwhile, which has ended the answer: a second one would throw.
      if (reply.raw.headersSent || reply.raw.destroyed) return
      if (error) done(error)
      else done(null, body)
    })
  })
}

/**
 * Sets the headers of an answer that may be compressed. Returns whether its client reads gzip, and
 * so must get it.
 */
export function chooseGzip(reply: FastifyReply): boolean {
  const before = reply.getHeader('vary')
  const vary = before === undefined ? 'accept-encoding' : `${String(before)}, accept-encoding`
  void reply.header('vary', vary)
  const isRead =
    negotiate(String(reply.request.headers['accept-encoding'] ?? ''), ['gzip']) !== null
  if (isRead) void reply.header('content-encoding', 'gzip')
  return isRead
}

/** A stream that compresses what is written to it into the response, and ends with it. */
export function gzipInto(response: AnyResponse): Writable {
  const compressed = createGzip(options)
  // A client that leaves ends both. Whoever writes learns of it by the response.
  pipeline(compressed, response, () => {})
  return compressed
}

function isJson(reply: FastifyReply): boolean {
  return reply.getHeader('content-encoding') === undefined &&
    String(reply.getHeader('content-type')).startsWith('application/json')
}
