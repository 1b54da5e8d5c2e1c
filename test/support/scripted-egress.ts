/** Egress without a network: a test sees what is sent, and decides the outcome. */

import type { Call, Egress, CallOutcome } from '../../src/egress/index.ts'

/** A call that a test answers. */
export interface SentCall {
  readonly call: Call
  readonly signal: AbortSignal
  /** The body of a try; undefined if nothing is to be sent any more. */
  body(): Promise<Record<string, unknown> | undefined>
  end(outcome: CallOutcome): void
  fail(reason: unknown): void
}

/** The outcome of a webhook that was received. */
export const received: CallOutcome = { kind: 'answered', status: 200, body: '', cut: false }

/** An egress whose calls a test ends. */
export class ScriptedEgress implements Pick<Egress, 'send'> {
  readonly sent: SentCall[] = []

  send(call: Call, signal: AbortSignal): Promise<CallOutcome> {
    const { promise, resolve, reject } = Promise.withResolvers<CallOutcome>()
    signal.addEventListener('abort', () => reject(signal.reason as Error))
    this.sent.push({
      call,
      signal,
      end: resolve,
      fail: reject,
      body: async () => {
        const text = await call.body?.()
        return text === undefined ? undefined : JSON.parse(text) as Record<string, unknown>
      },
    })
    return promise
  }
}
