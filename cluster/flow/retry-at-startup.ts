/** Asks the store again and again while a member starts, until it answers. */

import type { Env } from '../runtime/env.ts'
import { untilAvailable } from './until-available.ts'

/**
 * While a node of the store comes or goes, there may be no quorum for some seconds. A member that
 * starts can wait for that: it serves nobody yet.
 */
const patienceMs = 30_000

/** `work` may be done again. Throws what it throws; `unavailable` only when that lasts. */
export function retryAtStartup<Answer>(env: Env, work: () => Promise<Answer>): Promise<Answer> {
  const beganMs = env.monotonicMs()
  return untilAvailable({
    env,
    hasEnded: () => env.monotonicMs() - beganMs > patienceMs,
    waits: (error) =>
      env.log.warn('The store does not answer yet: this member waits for it.', { error }),
  }, work)
}
