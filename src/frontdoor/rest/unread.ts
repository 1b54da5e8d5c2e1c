/** Long answers that clients have not read yet: they count like answers that are being built. */

import type { FastifyInstance } from 'fastify'

import { AnswerRoom } from '../../answer-room.ts'
import { breakOff, whenClosed } from './ending.ts'
import type { AnyResponse } from './ending.ts'

/** Shorter answers are soon in the buffers of the connection. */
const shortLength = 64 * 1024
/** A client that reads nothing of its answer for this long counts as gone. */
const patienceMs = 60_000

declare module 'fastify' {
  interface FastifyInstance {
    /** How long a client may read nothing of a long answer. */
    readonly unreadMs: number
  }
}

/** Holds room for everything that is sent with `reply.send`, until it has been read. */
export function holdAnswers(app: FastifyInstance, unreadMs = patienceMs): void {
  app.decorate('unreadMs', unreadMs)
  app.addHook('onSend', (_request, { raw }, payload, done) => {
    if (typeof payload === 'string') holdUntilRead(raw, payload, unreadMs)
    done()
  })
}

/** To be called before it is sent. It exists already, so others are refused, never this one. */
export function holdUntilRead(response: AnyResponse, answer: { readonly length: number },
  unreadMs: number): void {
  if (answer.length <= shortLength) return
  const room = new AnswerRoom()
  room.hold(answer)
  whenClosed(response, () => room[Symbol.dispose]())
  response.setTimeout(unreadMs, () => breakOff(response))
}
