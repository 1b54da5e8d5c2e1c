/** Long answers that clients have not read yet: they take room, as those being gathered do. */

import type { FastifyInstance } from 'fastify'

import { AnswerRoom } from '../../answer-room.ts'
import { breakOff, whenClosed } from './ending.ts'
import type { AnyResponse } from './ending.ts'

/** An answer up to this length is soon in the buffers of its connection. */
const shortLength = 64 * 1024
/** A client that reads nothing of its answer for this long counts as gone. */
const patienceMs = 60_000

declare module 'fastify' {
  interface FastifyInstance {
    /** How long a client may read nothing of a long answer. */
    readonly unreadMs: number
  }
}

/** Holds what Fastify sends until it is read. What is sent in other ways is held there. */
export function holdAnswers(app: FastifyInstance, unreadMs = patienceMs): void {
  app.decorate('unreadMs', unreadMs)
  app.addHook('onSend', (_request, { raw }, payload, done) => {
    if (typeof payload === 'string') holdUntilRead(raw, payload, unreadMs)
    done()
  })
}

/** Call before sending. The answer exists already: it is never refused, but others may be. */
export function holdUntilRead(response: AnyResponse, answer: { readonly length: number },
  unreadMs: number): void {
  if (answer.length <= shortLength) return
  const room = new AnswerRoom()
  room.hold(answer)
  whenClosed(response, () => room[Symbol.dispose]())
  cutWhenUnread(response, unreadMs)
}

/** From now on, a client that reads nothing for this long is cut off. */
export function cutWhenUnread(response: AnyResponse, unreadMs: number): void {
  response.setTimeout(unreadMs, () => breakOff(response))
}
