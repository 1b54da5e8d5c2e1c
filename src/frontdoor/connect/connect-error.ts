/** The one place where an error becomes a status of Connect and gRPC. */

import { Code, ConnectError } from '@connectrpc/connect'
import type { HandlerContext, Interceptor, UnaryRequest } from '@connectrpc/connect'

import type { Log } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'
import { detailsKey } from './request-details.ts'

type Call = Pick<UnaryRequest, 'signal' | 'contextValues'>

/** Makes the interceptor that turns any error into its status. `heddle-code` names our own code. */
export function errorsAsStatus(log: Log): Interceptor {
  const statusOf = (caught: unknown, { signal, contextValues }: Call) => {
    if (caught instanceof ConnectError) return caught
    const error = HeddleError.from(caught)
    if (error.code === 'internal') {
      const details = contextValues.get(detailsKey)
      log.error('A call failed for a reason that nobody foresaw.', { error: caught, ...details })
    }
    // If a deadline aborted the call, `unavailable` follows from it. So the deadline is reported.
    const { reason } = signal as { readonly reason: unknown }
    const given = error.code === 'unavailable' && reason instanceof ConnectError
    return given ? reason : asConnectError(error)
  }
  return (next) => async (request) => {
    const failed = (caught: unknown) => statusOf(caught, request)
    try {
      const response = await next(request)
      if (!response.stream) return response
      return { ...response, message: guarded(response.message, failed) }
    } catch (caught) {
      throw failed(caught)
    }
  }
}

/**
 * Makes errors of reading errors of the request. Call before a request is read. The library calls
 * what it cannot read an internal error, which clients would retry. This works because the library
 * aborts the context of a failed call before it makes a status of the error.
 */
export function blameRequest(context: HandlerContext): void {
  const call = context as HandlerContext & { abort(reason?: unknown): void }
  const { abort } = call
  call.abort = (reason) => {
    if (reason instanceof ConnectError && isOfRequest(reason)) {
      Object.assign(reason, { code: Code.InvalidArgument })
    }
    abort(reason)
  }
}

function isOfRequest({ code, metadata, rawMessage }: ConnectError): boolean {
  const ours = metadata.has('heddle-code') || rawMessage.startsWith('serialize')
  return code === Code.Internal && !ours
}

async function* guarded<Message>(messages: AsyncIterable<Message>,
  statusOf: (caught: unknown) => ConnectError): AsyncGenerator<Message> {
  try {
    yield* messages
  } catch (caught) {
    throw statusOf(caught)
  }
}

/** Turns an error into its status. Our catalogue and Connect use the numbers of google.rpc.Code. */
export function asConnectError({ message, code, grpcStatus }: HeddleError): ConnectError {
  const status: Code = grpcStatus
  return new ConnectError(message, status, { 'heddle-code': code })
}
