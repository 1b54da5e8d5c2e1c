/** The one place where an error becomes a status of Connect and gRPC. */

import { ConnectError } from '@connectrpc/connect'
import type { Code, Interceptor } from '@connectrpc/connect'

import type { Log } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'

/** Turns whatever a handler throws into its status; `heddle-code` names our own code. */
export function errorsAsStatus(log: Log): Interceptor {
  const statusOf = (caught: unknown) => {
    if (caught instanceof ConnectError) return caught
    const error = HeddleError.from(caught)
    if (error.code === 'internal') {
      log.error('A call failed for a reason that nobody foresaw.', { error: caught })
    }
    // The numbers of the catalogue are those of google.rpc.Code, as Connect's are.
    const code: Code = error.grpcStatus
    return new ConnectError(error.message, code, { 'heddle-code': error.code })
  }
  return (next) => async (request) => {
    try {
      const response = await next(request)
      if (!response.stream) return response
      return { ...response, message: guarded(response.message, statusOf) }
    } catch (caught) {
      throw statusOf(caught)
    }
  }
}

async function* guarded<Message>(messages: AsyncIterable<Message>,
  statusOf: (caught: unknown) => ConnectError): AsyncGenerator<Message> {
  try {
    yield* messages
  } catch (caught) {
    throw statusOf(caught)
  }
}
