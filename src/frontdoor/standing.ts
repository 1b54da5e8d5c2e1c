/** What takes long is told to a caller who may still hear it: keys are revoked meanwhile. */

import { standingLost } from './caller.ts'
import type { Caller } from './caller.ts'
import type { Pulse } from './pulse.ts'

/** The answer; throws `unauthenticated` from when the caller does not stand any more. */
export async function whileStanding<Answer>(caller: Caller, pulse: Pulse,
  answer: Promise<Answer>): Promise<Answer> {
  const { promise: lost, reject } = Promise.withResolvers<never>()
  const watch = {
    beat: () => { if (!caller.stands()) reject(standingLost()) },
    leave: () => {},
  }
  pulse.add(watch)
  try {
    return await Promise.race([answer, lost])
  } finally {
    pulse.remove(watch)
  }
}
