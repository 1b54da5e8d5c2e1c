/** Makes routes of operations: their access, their checks and their documentation. */

import type { FastifyReply, FastifyRequest, RequestPayload } from 'fastify'
import { Type } from 'typebox'

import { operations } from '../../api/index.ts'
import type { Answer, CheckedBody, Operation, Params, Query } from '../../api/index.ts'
import { documented, statusOf } from './documented.ts'
import { undeclaredAt } from '../schema/undeclared.ts'
import { sendJson } from './list-reply.ts'
import type { App } from './route.ts'

/** Serves an operation. It returns the JSON of the answer, or the reply if that is sent. */
export type Handler<Of extends Operation> = (request: Asked<Of>,
  reply: FastifyReply) => Promise<Answer<Of> | FastifyReply>

type Asked<Of extends Operation> = FastifyRequest<
  { Params: Params<Of>; Querystring: Query<Of>; Body: CheckedBody<Of> }
>

const named = new Map(operations.map((each) => [each.operation, each] as const))

/** Options for serving an operation, besides what the operation declares. */
export interface ServeOptions {
  /** Bytes that a body may have; by default as many as the server takes. */
  readonly bodyLimit?: number
  /** Called before a body is received: it may refuse the request. */
  readonly preParsing?: (request: FastifyRequest, reply: FastifyReply,
    payload: RequestPayload) => Promise<RequestPayload>
  /** Answers errors that come before the handler; by default as all routes do. */
  readonly errorHandler?: (error: unknown, request: FastifyRequest, reply: FastifyReply) => void
  /** True for a GET that is also served as a HEAD. */
  readonly exposeHeadRoute?: true
}

const NoQuery = Type.Object({})

/** Adds the route of an operation to an app whose prefix, if it has one, begins the path. */
export function serve<Of extends Operation>(app: App, operation: Of, handler: NoInfer<Handler<Of>>,
  options: ServeOptions = {}): void {
  const { method, path, access, params, headers } = operation
  const body = operation.raw ? undefined : operation.body
  // A route that refuses undeclared members refuses any query where none is declared.
  const query = operation.query ?? (undeclaredAt(path) === 'refused' ? NoQuery : undefined)
  const documents = documented(named.get(operation)!)
  app.route({
    method,
    url: path.slice(app.prefix.length),
    schema: { ...params && { params }, ...query && { querystring: query }, ...body && { body },
      ...headers && { headers }, ...documents },
    config: { access, operation },
    ...options,
    handler: async (request, reply) => {
      const answer = await handler(request as unknown as Asked<Of>, reply)
      // The handler has sent an answer, or the client left before it.
      const isAnswered = reply.sent || reply.raw.headersSent
      return isAnswered ? reply : reply.code(statusOf(operation)).send(answer)
    },
  })
}

/** Serves an operation whose answers nobody between the server and its client may keep. */
export function serveFresh<Of extends Operation>(app: App, operation: Of, handler: Handler<Of>,
  options?: ServeOptions): void {
  serve(app, operation, async (request, reply) => {
    const answer = await handler(request, reply)
    return reply.sent ? reply : sendFresh(reply.code(statusOf(operation)), answer)
  }, options)
}

/** Sends JSON that nobody between the server and its client may keep. */
export function sendFresh(reply: FastifyReply, answer: unknown): ReturnType<typeof sendJson> {
  return sendJson(reply.header('cache-control', 'no-store'), JSON.stringify(answer))
}
