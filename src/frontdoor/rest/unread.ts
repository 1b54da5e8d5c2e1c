/** Long answers that their clients have not read yet: they count as those that are gathered. */

import type { FastifyInstance } from 'fastify'

import { AnswerRoom } from '../../answer-room.ts'
import { breakOff, whenClosed } from './ending.ts'
import type { AnyResponse } from './ending.ts'

/** What is no longer than this is in the buffers of its connection soon. */
const shortLength = 64 * 1024
/** Who takes nothing of his answer for so long is gone, whatever his connection says. */
const patienceMs = 60_000

declare module 'fastify' {
  interface FastifyInstance {
    /** How long a client may take nothing of a long answer. */
    readonly unreadMs: number
  }
}

/** Holds whatever is sent, until it was read. What leaves by another way is held there. */
export function holdAnswers(app: FastifyInstance, unreadMs = patienceMs): void {
  app.decorate('unreadMs', unreadMs)
  app.addHook('onSend', (_request, { raw }, payload, done) => {
    if (typeof payload === 'string') holdUntilRead(raw, payload, unreadMs)
    done()
  })
}

/** Before it leaves. It is there already: others are refused for it, and never this one. */
export function holdUntilRead(response: AnyResponse, answer: { readonly length: number },
  unreadMs: number): void {
  if (answer.length <= shortLength) return
  const room = new AnswerRoom()
  room.hold(answer)
  whenClosed(response, () => room[Symbol.dispose]())
  response.setTimeout(unreadMs, () => breakOff(response))
}
