/** Long answers of the typed API that clients have not read yet: they take room, as on REST. */

import { createContextKey } from '@connectrpc/connect'
import type { ContextValues, Interceptor } from '@connectrpc/connect'
import type { FastifyRequest } from 'fastify'

import type { AnyResponse } from '../rest/ending.ts'
import type { App } from '../rest/route.ts'
import { holdUntilRead } from '../rest/unread.ts'

const responseKey = createContextKey<AnyResponse | undefined>(undefined,
  { description: 'response to the request' })

/** Remembers the response of each request, and adds it to the context values of its call. */
export function withResponse(app: App):
(request: FastifyRequest, values: ContextValues) => ContextValues {
  const responses = new WeakMap<FastifyRequest, AnyResponse>()
  app.addHook('onRequest', (request, { raw }, done) => {
    responses.set(request, raw)
    done()
  })
  return (request, values) => values.set(responseKey, responses.get(request))
}

/** Streams are not held: what waits for their readers has limits of its own. */
export function holdMessages(unreadMs: number): Interceptor {
  return (next) => async (call) => {
    const answer = await next(call)
    const response = call.contextValues.get(responseKey)
    if (!answer.stream && response) {
      holdUntilRead(response, { length: lengthOf(answer.message) }, unreadMs)
    }
    return answer
  }
}

/** Counts texts and bytes: nothing else in a message is long. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, member) => sum + lengthOf(member), 0)
}
