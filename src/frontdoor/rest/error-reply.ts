/** The one place where an error becomes a reply. */

import type { FastifyError, FastifyReply, FastifyRequest } from 'fastify'

import type { Log } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'

/** Where a client is told to come back, this is when. */
const retryAfterSeconds = '1'

/** `{detail, message, code}`, and `errors: [{field, message}]` where fields are wrong. */
export function errorReply(log: Log) {
  return (caught: unknown, request: FastifyRequest, reply: FastifyReply): void => {
    const error = errorOf(caught)
    if (error.code === 'internal') {
      log.error('A request failed for a reason that nobody foresaw.',
        { error: caught, method: request.method, path: request.url.split('?', 1)[0] })
    }
    if (error.retry !== 'no') void reply.header('retry-after', retryAfterSeconds)
    // The rest of a body that we do not want is read and dropped; closing would reset the
    // connection before a client that still sends has seen the answer.
    if (error.code === 'too_large') reply.removeHeader('connection')
    void reply.code(error.httpStatus).send(bodyOf(error))
  }
}

function bodyOf({ message, code, facts }: HeddleError): Record<string, unknown> {
  const { errors } = facts
  return { detail: message, message, code, ...(errors !== undefined && { errors }) }
}

/** The server library's own complaints are about the request too. */
function errorOf(caught: unknown): HeddleError {
  if (caught instanceof HeddleError) return caught
  const { statusCode, code, message } = caught as Partial<FastifyError>
  if (statusCode === 413) return new HeddleError('too_large')
  if (statusCode === 503) return new HeddleError('unavailable', 'The server is closing.')
  if (statusCode !== undefined && statusCode >= 400 && statusCode < 500) {
    return new HeddleError('malformed', `The request cannot be read: ${message ?? code ?? ''}`)
  }
  return HeddleError.from(caught)
}
