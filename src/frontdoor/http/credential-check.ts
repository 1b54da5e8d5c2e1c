/** Long answers are given only to callers that are still there, and whose key is still valid. */

import { HeddleError } from '../../errors.ts'
import { standingLost } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Pulse } from './connection-ticker.ts'
import { whenAborted } from './when-aborted.ts'

export interface LongAnswer<Answer> {
  readonly caller: Caller
  readonly pulse: Pulse
  /** Aborts when the caller leaves. */
  readonly left: AbortSignal
  /** `gone` aborts when nobody may get the answer any more, for whatever reason. */
  ask(gone: AbortSignal): Promise<Answer>
}

/**
 * The answer; throws `unauthenticated` as soon as the caller no longer stands, and `unavailable`
 * when the caller has left.
 */
export async function whileStanding<Answer>({ caller, pulse, left, ask }: LongAnswer<Answer>):
Promise<Answer> {
  const gone = new AbortController()
  const { promise: nobody, reject } = Promise.withResolvers<never>()
  const end = (reason: HeddleError) => {
    gone.abort(reason)
    reject(reason)
  }
  const watch = {
    beat: () => { if (!caller.stands()) end(standingLost()) },
    leave: () => {},
  }
  using _ = whenAborted(left, () => end(new HeddleError('unavailable', 'The client went.')))
  pulse.add(watch)
  try {
    return await Promise.race([ask(gone.signal), nobody])
  } finally {
    pulse.remove(watch)
  }
}
