/** Long answers are given only to callers that are still there, and whose key is still valid. */

import { HeddleError } from '../../errors.ts'
import { credentialLost } from './caller.ts'
import type { Caller } from './caller.ts'
import type { ConnectionTicker } from './connection-ticker.ts'
import { whenAborted } from './when-aborted.ts'

export interface LongAnswer<Answer> {
  readonly caller: Caller
  readonly ticker: ConnectionTicker
  /** Aborts when the caller leaves. */
  readonly left: AbortSignal
  /** `cancelled` aborts when nobody may get the answer any more, for whatever reason. */
  ask(cancelled: AbortSignal): Promise<Answer>
}

/**
 * The answer; throws `unauthenticated` as soon as the caller no longer stands, and `unavailable`
 * when the caller has left.
 */
export async function whileValid<Answer>(
  { caller, ticker, left, ask }: LongAnswer<Answer>,
): Promise<Answer> {
  const cancelled = new AbortController()
  const { promise: nobody, reject } = Promise.withResolvers<never>()
  const end = (reason: HeddleError) => {
    cancelled.abort(reason)
    reject(reason)
  }
  const watch = {
    tick: () => {
      if (!caller.stillValid()) end(credentialLost())
    },
    leave: () => {},
  }
  using _ = whenAborted(left, () => end(new HeddleError('unavailable', 'The client went.')))
  ticker.add(watch)
  try {
    return await Promise.race([ask(cancelled.signal), nobody])
  } finally {
    ticker.remove(watch)
  }
}
