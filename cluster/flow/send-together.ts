/** Messages that are sent together when they come at about the same time. */

import type { Env } from '../runtime/env.ts'

/** The result takes one message; `send` gets all that came within `ms` of the first. */
export function sendTogether<Message>(env: Pick<Env, 'after'>, ms: number,
  send: (messages: readonly Message[]) => void): (message: Message) => void {
  const waiting: Message[] = []
  return (message) => {
    if (waiting.push(message) === 1) env.after(ms, () => send(waiting.splice(0)))
  }
}
