/** The caller of a typed call, handed on from its HTTP request. */

import { createContextKey, createContextValues } from '@connectrpc/connect'
import type { ContextValues, HandlerContext } from '@connectrpc/connect'
import type { FastifyRequest } from 'fastify'

import { assert, HeddleError } from '../../errors.ts'
import type { Caller } from '../http/caller.ts'

const callerKey = createContextKey<Caller | undefined>(undefined, { description: 'caller' })

export function withCaller({ caller }: FastifyRequest): ContextValues {
  return createContextValues().set(callerKey, caller)
}

export function callerOf({ values }: Pick<HandlerContext, 'values'>): Caller {
  const caller = values.get(callerKey)
  assert(caller, 'a call has a caller')
  return caller
}

/** Aborts, with a HeddleError, when the caller has left. */
export function goneSignal({ signal }: Pick<HandlerContext, 'signal'>): AbortSignal {
  const cancelled = new AbortController()
  signal.addEventListener('abort',
    () => cancelled.abort(new HeddleError('unavailable', 'The caller has left.')), { once: true })
  return cancelled.signal
}

export function tenantOf(context: Pick<HandlerContext, 'values'>): string {
  return callerOf(context).tenant
}
