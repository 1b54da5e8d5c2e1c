/** Bounds the bodies that are being received, of all tenants and of each one. */

import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'

import type { FastifyInstance } from 'fastify'

import { InputQuota } from '../../thread/index.ts'
import type { Inputs } from '../../thread/index.ts'
import { breakOff, whenClosed } from './ending.ts'
import type { AnyResponse } from './ending.ts'

/** Bounds on bodies of requests that are being received. */
export interface BodyQuotaOptions {
  /** Bytes. Longer bodies are refused elsewhere and take no room. */
  readonly longest: number
  /** Room for bodies that are being received, or read beside the main thread. */
  readonly quota: InputQuota
}

type Request = IncomingMessage | Http2ServerRequest

const full = 'Too many long bodies are being received: send this one again in a moment.'

/** Makes room for bodies. Throws `full` when it is full. */
export function roomForBodies(bytes: number): InputQuota {
  return new InputQuota(bytes, full)
}

/**
 * Adds the bound. Call after the guard is added. If there is no room, a body of announced length is
 * refused before it is read. Any other body is cut off when it outgrows the room.
 */
export function holdBodies(app: FastifyInstance, { longest, quota }: BodyQuotaOptions): void {
  app.addHook('onRequest', async ({ raw, caller }, { raw: response }) => {
    const bytes = announcedLength(raw)
    if (bytes === 0) return
    const bodies = quota.of(caller.tenant)
    bodies.requireLeft(raw)
    if (bytes === undefined) holdAsItComes(raw, response, bodies)
    else bodies.hold(raw, Math.min(bytes, longest))
    const release = () => bodies.hold(raw, 0)
    raw.once('end', release)
    whenClosed(response, release)
  })
}

/** Announced length of a body in bytes; undefined if it has none, 0 if there is no body. */
export function announcedLength(request: Request): number | undefined {
  const { headers } = request
  if (headers['content-length'] !== undefined) return Number(headers['content-length'])
  const hasNone = 'stream' in request
    ? request.stream.endAfterHeaders
    : headers['transfer-encoding'] === undefined
  return hasNone ? 0 : undefined
}

/** Counts what is pushed: a listener would make the data flow before its reader is there. */
function holdAsItComes(request: Request, response: AnyResponse, bodies: Inputs): void {
  const put = request.push.bind(request)
  let received = request.readableLength
  bodies.hold(request, received)
  request.push = (chunk: Uint8Array | null, encoding) => {
    if (chunk === null || response.destroyed) return put(chunk, encoding)
    bodies.hold(request, received += chunk.length)
    try {
      bodies.requireLeft(request)
    } catch {
      breakOff(response)
    }
    return put(chunk, encoding)
  }
}
