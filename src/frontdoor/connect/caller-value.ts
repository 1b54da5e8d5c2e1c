/** The caller of a typed call, passed on from its HTTP request. */

import { createContextKey, createContextValues } from '@connectrpc/connect'
import type { ContextValues, HandlerContext } from '@connectrpc/connect'
import type { FastifyRequest } from 'fastify'

import { assert, HeddleError } from '../../errors.ts'
import type { Caller } from '../http/caller.ts'

const callerKey = createContextKey<Caller | undefined>(undefined, { description: 'caller' })

/** Context values of a call that carry its caller. */
export function withCaller({ caller }: FastifyRequest): ContextValues {
  return createContextValues().set(callerKey, caller)
}

/** The caller of a call. The guard has authenticated it. */
export function callerOf({ values }: Pick<HandlerContext, 'values'>): Caller {
  const caller = values.get(callerKey)
  assert(caller, 'a call has a caller')
  return caller
}

/** A signal that aborts, with a HeddleError, when the caller has left. */
export function goneSignal({ signal }: Pick<HandlerContext, 'signal'>): AbortSignal {
  const cancelled = new AbortController()
  signal.addEventListener('abort',
    () => cancelled.abort(new HeddleError('unavailable', 'The caller has left.')), { once: true })
  return cancelled.signal
}

/** The tenant of the caller. */
export function tenantOf(context: Pick<HandlerContext, 'values'>): string {
  return callerOf(context).tenant
}
