/** The one place where an error becomes a REST reply: its body and its headers. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

import type { Log } from '../../cluster/index.ts'
import { goingAway, HeddleError } from '../errors.ts'
import type { ErrorForm } from './error-body.ts'
import { asConnectError } from './connect/connect-error.ts'
import { isCall, refuseCall } from './connect/refusal.ts'
import { detailsOf, nameReply } from './http/exchange.ts'
import { quotaHeaders } from './http/quota-headers.ts'
import type { LimitDetails } from './http/quota-headers.ts'
import { isUpgrade } from './http/connections/upgrade.ts'
import type { SocketServer } from './http/connections/upgrade.ts'

/** Seconds for errors that may be retried and do not say when. */
const retryAfterSeconds = '1'

/** Names one way to authenticate. A key may be sent as x-api-key too. */
const challenge = 'Bearer realm="heddle"'

/**
 * Makes the error handler. `form` chooses the body by the routed address. That of a deployment is
 * `{detail, message, code}`, with `errors: [{field, message}]` if fields are wrong, `url` if
 * another address is the right one, `dependencies` if some are out of reach, `quota: {name, limit}`
 * if one is used up, `admitted: [{run_id, thread_id}]` if only a part was done, and `error` and
 * `limit: {row, count, intervalSeconds}` if there were too many requests. A call of the typed API
 * gets the error format of its protocol, and a WebSocket a close code. `tokens` adds to a challenge
 * where tokens come from.
 */
export function errorReply(log: Log, sockets: Pick<SocketServer, 'refuse'>,
  form: (error: HeddleError, url: string) => ErrorForm,
  tokens: (request: FastifyRequest) => string = () => '') {
  return (caught: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = errorOf(caught)
    nameReply(request, reply)
    if (error.code === 'internal') {
      log.error('A request failed for a reason that nobody foresaw.', { error: caught,
        ...detailsOf(request) })
    }
    if (isUpgrade(request)) return sockets.refuse(request, reply, error)
    if (error.retry !== 'no') void reply.header('retry-after', retryAfterOf(error))
    if (error.code === 'unauthenticated') {
      void reply.header('www-authenticate', challenge + tokens(request))
    }
    const { allow } = error.details
    const { limit } = error.details as { readonly limit?: LimitDetails }
    if (allow !== undefined) void reply.header('allow', allow)
    for (const header of error.details.refusal?.headers ?? []) void reply.header(...header)
    if (limit !== undefined) quotaHeaders(reply, limit, 0, retryAfterOf(error))
    // The rest of an unwanted body is read and dropped. Closing would reset the connection before a
    // client that still sends has seen the answer. HTTP/2 does not allow this header.
    reply.removeHeader('connection')
    if (isCall(request)) return refuseCall(request, reply, asConnectError(error))
    const { type = 'application/json', body } = form(error, request.url)
    void reply.code(error.httpStatus).type(type).send(body)
  }
}

function retryAfterOf({ details: { retryAfterSeconds: known } }: HeddleError): string {
  return known === undefined ? retryAfterSeconds : String(known)
}

/** Errors of Fastify are about the request, or say that the server is closing. */
function errorOf(caught: unknown): HeddleError {
  if (caught instanceof HeddleError) return caught
  const { statusCode, code, message } = caught as Partial<FastifyError>
  if (statusCode === 413) return new HeddleError('too_large')
  if (statusCode === 503) return goingAway()
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new HeddleError('malformed', `The request cannot be read: ${message ?? code ?? ''}`)
  }
  return HeddleError.from(caught)
}
