/** Request bodies: read as JSON, whatever their content type. */

import type { IncomingMessage } from 'node:http'
import type { Http2ServerRequest } from 'node:http2'
import { Readable } from 'node:stream'

import type { FastifyRequest, RequestPayload } from 'fastify'

import { HeddleError } from '../../errors.ts'
import { jsonOf, longJson } from '../../json/index.ts'
import type { LongJson } from '../../json/index.ts'
import type { InputQuota } from '../../thread/index.ts'
import { receiveBody } from '../http/received-body.ts'
import type { App } from '../http/route.ts'
import { carriedBy } from '../schema/carried.ts'

const what = 'The body'

/** Readers of request bodies, and room for the long ones. */
export interface BodyReaders {
  /** Reads long bodies beside the main thread. */
  readonly json: LongJson
  /** Room for long bodies until they are read. */
  readonly bodies: InputQuota
}

/**
 * Reads every body as JSON. An empty one counts as no body: the schema then names what is missing.
 */
export function acceptJson(app: App, { json, bodies }: BodyReaders): void {
  // HTTP/2 has no header that announces a body: without a type, Fastify would not read it.
  app.addHook('onRequest', ({ raw }, _reply, done) => {
    if (raw.httpVersionMajor === 2) raw.headers['content-type'] ??= 'application/json'
    done()
  })
  // OPTIONS needs no key and no body. Without this, callers without a key could fill the memory.
  app.addHook('preParsing',
    ({ method }, _reply, payload, done) =>
      done(null, method === 'OPTIONS' ? Readable.from([]) : payload))
  app.removeAllContentTypeParsers()
  const readLong = async ({ caller: { tenant }, routeOptions }: FastifyRequest, bytes: Buffer) => {
    const quota = bodies.of(tenant)
    quota.hold(bytes, bytes.length)
    try {
      const carried = carriedBy(routeOptions.config.operation?.body)
      return await json.read(tenant, { what, bytes, carried })
    } finally {
      quota.hold(bytes, 0)
    }
  }
  app.addContentTypeParser('*', async (request: FastifyRequest, payload: RequestPayload) => {
    const bytes = await receiveBody(request, payload)
    requireWhole(request.raw)
    requirePlain(request.headers['content-encoding'])
    if (bytes.length > longJson) return readLong(request, bytes)
    const text = bytes.toString()
    return text.trim() === '' ? undefined : jsonOf(what, text)
  })
}

/** Throws if the client broke the body off. Over HTTP/2 such a body ends like any other. */
function requireWhole(request: IncomingMessage | Http2ServerRequest): void {
  if (!('stream' in request) || !request.stream.aborted) return
  throw new HeddleError('malformed', 'The request was broken off before its end.')
}

/** Throws `unsupported`, a 422. The official client would retry a 415. */
function requirePlain(encoding = 'identity'): void {
  if (encoding === 'identity') return
  throw new HeddleError('unsupported', `Compressed bodies are not supported: send this one as ` +
    `it is, without content-encoding: ${encoding}.`)
}
