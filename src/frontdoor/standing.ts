/** What takes long is told to a caller who may still hear it: he goes, and keys are revoked. */

import { HeddleError } from '../errors.ts'
import { standingLost } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Pulse } from './pulse.ts'
import { whenAborted } from './when-aborted.ts'

export interface LongAnswer<Answer> {
  readonly caller: Caller
  readonly pulse: Pulse
  /** Aborts when the caller goes. */
  readonly left: AbortSignal
  /** `gone` aborts when nobody is to hear the answer any more, for whichever reason. */
  ask(gone: AbortSignal): Promise<Answer>
}

/**
 * The answer; throws `unauthenticated` from when the caller does not stand any more, and
 * `unavailable` when he has left.
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
