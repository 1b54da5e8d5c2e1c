/** Asks the store again and again while a member starts, until it answers. */

import type { Env } from '../runtime/env.ts'
import { untilAvailable } from './until-available.ts'

/**
 * Time without an answer after which a start fails. While a node of the store comes or goes, there
 * may be no quorum for some seconds.
 */
const patienceMs = 30_000

/** Repeats `work` while it throws `unavailable`, for 30 s. Throws all other errors at once. */
export function retryAtStartup<Answer>(env: Env, work: () => Promise<Answer>): Promise<Answer> {
  const beganMs = env.monotonicMs()
  return untilAvailable({
    env,
    hasEnded: () => env.monotonicMs() - beganMs > patienceMs,
    waits: (error) =>
      env.log.warn('The store does not answer yet: this member waits for it.', { error }),
  }, work)
}
