/** What a member asks of the store when it starts is asked again until the store answers. */

import type { Env } from './env.ts'
import { untilAvailable } from './until-available.ts'

/**
 * Where a node of the store comes or goes there may be no quorum for some seconds. Nobody is served
 * worse because a member that starts waits for it; whoever starts it by hand wants to hear.
 */
const patienceMs = 30_000

/** `work` may be done again. Throws what it throws; `unavailable` only when that lasts. */
export function firstAnswer<Answer>(env: Env, work: () => Promise<Answer>): Promise<Answer> {
  const beganMs = env.monotonicMs()
  return untilAvailable({
    env,
    isOver: () => env.monotonicMs() - beganMs > patienceMs,
    waits: (error) =>
      env.log.warn('The store does not answer yet: this member waits for it.', { error }),
  }, work)
}
