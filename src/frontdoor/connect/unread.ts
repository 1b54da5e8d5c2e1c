/** Long answers of the typed API that clients have not read yet. They take room, as on REST. */

import { createContextKey } from '@connectrpc/connect'
import type { ContextValues, HandlerContext, Interceptor } from '@connectrpc/connect'
import type { FastifyRequest } from 'fastify'

import type { AnyResponse } from '../http/ending.ts'
import type { App } from '../http/route.ts'
import type { UnreadAnswers } from '../http/unread.ts'
import { tenantOf } from './caller-value.ts'

/** The response to a call, and what holds its answer until it is read. */
interface Delivery {
  readonly response: AnyResponse
  readonly unread: UnreadAnswers
}

const deliveryKey = createContextKey<Delivery | undefined>(undefined, {
  description: 'response to the request',
})

/** Remembers the response of each request, and adds it to the context values of its call. */
export function withDelivery(
  app: App,
): (request: FastifyRequest, values: ContextValues) => ContextValues {
  const { unread } = app
  const deliveries = new WeakMap<FastifyRequest, Delivery>()
  app.addHook('onRequest', (request, { raw: response }, done) => {
    deliveries.set(request, { response, unread })
    done()
  })
  return (request, values) => values.set(deliveryKey, deliveries.get(request))
}

/**
 * Holds unary answers. Streams are not held: what waits for their readers has bounds of its own.
 */
export const holdMessages: Interceptor = (next) => async (call) => {
  const answer = await next(call)
  const delivery = call.contextValues.get(deliveryKey)
  if (!answer.stream && delivery) {
    const { response, unread } = delivery
    const tenant = tenantOf({ values: call.contextValues })
    unread.hold(response, { length: lengthOf(answer.message) }, tenant)
  }
  return answer
}

/** Call for a stream without further events. A client that does not read the rest is cut off. */
export function endUnread({ values }: Pick<HandlerContext, 'values'>): void {
  const delivery = values.get(deliveryKey)
  delivery?.unread.cut(delivery.response)
}

/** Counts texts and bytes. Nothing else in a message is long. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, member) => sum + lengthOf(member), 0)
}
