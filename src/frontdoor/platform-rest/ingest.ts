/** Routes that take operations in. Bodies are read in the ingest thread, never here. */

import { finished } from 'node:stream/promises'

import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify'

import { ingestRun, exportLogs, exportMetrics, exportTraces, ingestBatch, ingestParts,
  ingestRunChange } from '../../api/index.ts'
import type { Ingested } from '../../api/index.ts'
import { HeddleError } from '../../errors.ts'
import type { IngestAnswer, IngestCall } from '../../platform/index.ts'
import { otherSignalAnswer, projectOfAddress, readUuid } from '../../platform/index.ts'
import { announcedLength } from '../http/body-quota.ts'
import type { App } from '../http/route.ts'
import { serve } from '../http/serve.ts'
import type { PlatformParts } from './platform-route.ts'
import { WaitingBodies } from './waiting-bodies.ts'

/** Adds the routes. The parser of the app must leave bodies as they came. */
export function ingestRoutes(app: App, { platform, env }: PlatformParts): void {
  const waiting = new WaitingBodies()
  const take = async (request: FastifyRequest, form: IngestCall['form'],
    more: Pick<IngestCall, 'spanId' | 'spareId'> = {}): Promise<IngestAnswer> => {
    const { headers, caller: { tenant } } = request
    const raw = (request.body ?? new Uint8Array()) as Uint8Array
    const encoding = encodingOf(headers['content-encoding'])
    const release = waiting.hold(tenant, raw.byteLength)
    try {
      const body = bytesOf(raw)
      const project = projectIn(headers)
      return await platform.ingest.ingest({
        tenant,
        form,
        body,
        encoding,
        contentType: typeOf(request),
        ...project !== undefined && { project },
        ...more,
      }, { transfer: [body.buffer as ArrayBuffer] })
    } finally {
      release()
    }
  }

  const options = {
    // What there is no room for is not received at all. It takes room only when it is there: one
    // who sends slowly would keep it from others.
    preParsing: async ({ raw, caller }: FastifyRequest, _reply: FastifyReply,
      payload: RequestPayload) => {
      try {
        waiting.requireRoom(caller.tenant, announcedLength(raw) ?? 0)
      } catch (error) {
        // A connection that ends with the answer would be reset while its client still sends.
        if (raw.headers.connection === 'close') await finished(payload.resume()).catch(() => {})
        throw error
      }
      return payload
    },
  }

  serve(app, ingestParts, async (request) => accepted(await take(request, 'multipart')), options)
  serve(app, ingestBatch, async (request) => accepted(await take(request, 'batch')), options)
  serve(app, ingestRun,
    async (request) => accepted(await take(request, 'post', { spareId: env.uuid7() })), options)
  serve(app, ingestRunChange, async (request) => {
    const spanId = readUuid(request.params.id)
    if (spanId === undefined) throw new HeddleError('invalid', 'The id of a run is a UUID.')
    return accepted(await take(request, 'patch', { spanId }))
  }, options)
  serve(app, exportTraces, async (request, reply) => {
    if (!isOtlp(request)) return reply.code(415).send(otlpTypes)
    const { otlp } = await take(request, 'otlp')
    return reply.type(otlp!.contentType).send(Buffer.from(otlp!.body))
  }, options)
  for (const [signal, operation] of [['metrics', exportMetrics], ['logs', exportLogs]] as const) {
    serve(app, operation, async (request, reply) => {
      if (!isOtlp(request)) return reply.code(415).send(otlpTypes)
      const { contentType, body } = otherSignalAnswer(signal, typeOf(request))
      return reply.type(contentType).send(Buffer.from(body))
    })
  }
}

const otlpTypes = { error: 'Send application/x-protobuf or application/json.' }

function isOtlp(request: FastifyRequest): boolean {
  return /^application\/(x-protobuf|json)\b/i.test(typeOf(request))
}

function typeOf({ headers }: FastifyRequest): string {
  return headers['content-type'] ?? ''
}

/** The answer to operations: those that were read stay accepted, those that failed are named. */
function accepted({ rejected, cut }: IngestAnswer): Ingested {
  return { message: 'Runs batch ingested', ...rejected.length > 0 && { rejected },
    ...cut !== undefined && { cut } }
}

/** The project that headers name, by its name or by its agent. */
function projectIn(
  { 'langsmith-project': name, 'langsmith-agent-id': agent,
    'langsmith-agent-environment': environment }: FastifyRequest['headers'],
): string | undefined {
  if (typeof name === 'string' && name !== '') return name
  if (typeof agent !== 'string' || typeof environment !== 'string') return undefined
  return projectOfAddress(`lrn:agents/${agent}/environments/${environment.toLowerCase()}`)
}

/** The bytes in a buffer of their own, which moves to the ingest thread. Long ones have one. */
function bytesOf(bytes: Uint8Array): Uint8Array {
  return bytes.byteLength === bytes.buffer.byteLength ? bytes : Uint8Array.from(bytes)
}

function encodingOf(encoding = ''): IngestCall['encoding'] {
  const name = encoding.trim().toLowerCase()
  if (name === '' || name === 'identity') return ''
  if (name === 'gzip' || name === 'zstd') return name
  throw new HeddleError('unsupported', `Bodies may be compressed with gzip or zstd, not ${name}.`)
}
