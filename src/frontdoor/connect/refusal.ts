/** Refuses a call before it is read, in the error format of its own protocol. */

import type { ConnectError } from '@connectrpc/connect'
import { encodeEnvelope } from '@connectrpc/connect/protocol'
import { codeToHttpStatus, contentTypeStreamRegExp, endStreamFlag, endStreamToJson,
  errorToJson } from '@connectrpc/connect/protocol-connect'
import { contentTypeRegExp as grpcTypes, setTrailerStatus } from '@connectrpc/connect/protocol-grpc'
import { contentTypeRegExp as grpcWebTypes } from '@connectrpc/connect/protocol-grpc-web'
import type { FastifyReply, FastifyRequest } from 'fastify'

import { accessOfCalls } from './access.ts'

/** True if the request is a call of the typed API. */
export function isCall({ routeOptions }: FastifyRequest): boolean {
  return accessOfCalls.has(routeOptions?.url ?? '')
}

/** Answers a call with an error. Headers that the reply already has are kept. */
export function refuseCall({ headers }: FastifyRequest, reply: FastifyReply,
  error: ConnectError): void {
  const type = headers['content-type'] ?? ''
  if (grpcTypes.test(type) || grpcWebTypes.test(type)) return refuseByHeaders(reply, type, error)
  if (contentTypeStreamRegExp.test(type)) {
    const json = JSON.stringify(endStreamToJson(new Headers(), error, undefined))
    const end = encodeEnvelope(endStreamFlag, new TextEncoder().encode(json))
    return void reply.code(200).type(type).send(Buffer.from(end))
  }
  void reply.code(codeToHttpStatus(error.code)).headers(Object.fromEntries(error.metadata))
    .type('application/json').send(JSON.stringify(errorToJson(error, undefined)))
}

/**
 * Puts the gRPC status into the headers, as in any answer without messages. The headers must end
 * the stream, which they do if nothing is written before the end.
 */
function refuseByHeaders(reply: FastifyReply, type: string, error: ConnectError): void {
  const { raw } = reply.hijack()
  raw.statusCode = 200
  for (const [name, value] of Object.entries(reply.getHeaders())) {
    if (value !== undefined) raw.setHeader(name, value)
  }
  raw.setHeader('content-type', type)
  for (const [name, value] of setTrailerStatus(new Headers(), error)) raw.setHeader(name, value)
  raw.end()
}
