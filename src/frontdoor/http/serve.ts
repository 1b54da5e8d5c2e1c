/** Makes routes of operations: their access, their checks and their documentation. */

import type { FastifyReply, FastifyRequest } from 'fastify'

import { operations } from '../../api/index.ts'
import type { Answer, Body, Operation, Params, Query } from '../../api/index.ts'
import { documented, statusOf } from './documented.ts'
import type { App } from './route.ts'

/** Serves an operation. It returns the JSON of the answer, or the reply if that is sent. */
export type Handler<Of extends Operation> = (request: Asked<Of>,
  reply: FastifyReply) => Promise<Answer<Of> | FastifyReply>

type Asked<Of extends Operation> = FastifyRequest<
  { Params: Params<Of>; Querystring: Query<Of>; Body: Body<Of> }
>

const named = new Map(operations.map((each) => [each.operation, each] as const))

/** Adds the route of an operation to an app whose prefix, if it has one, begins the path. */
export function serve<Of extends Operation>(app: App, operation: Of, handler: Handler<Of>): void {
  const { method, path, access, params, query, body, headers } = operation
  const documents = documented(named.get(operation)!)
  app.route({
    method,
    url: path.slice(app.prefix.length),
    schema: { ...params && { params }, ...query && { querystring: query }, ...body && { body },
      ...headers && { headers }, ...documents },
    config: { access, operation },
    handler: async (request, reply) => {
      const answer = await handler(request as unknown as Asked<Of>, reply)
      // What waits for a reply gets nothing, when it was sent.
      return reply.sent ? reply : reply.code(statusOf(operation)).send(answer)
    },
  })
}
