/** Gives a long answer only to a caller that is still there and whose key is still valid. */

import { HeddleError } from '../../errors.ts'
import { credentialLost } from './caller.ts'
import type { Caller } from './caller.ts'
import type { ConnectionTicker } from './connections/connection-ticker.ts'
import { whenAborted } from './when-aborted.ts'

/** A question whose answer may take long. */
export interface LongAnswer<Answer> {
  readonly caller: Caller
  readonly ticker: ConnectionTicker
  /** Aborts when the caller leaves. */
  readonly left: AbortSignal
  /** Makes the answer. `cancelled` aborts when the answer cannot be given any more. */
  ask(cancelled: AbortSignal): Promise<Answer>
}

/**
 * Resolves with the answer. Throws `unauthenticated` as soon as the credentials are invalid, and
 * `unavailable` when the caller has left.
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
