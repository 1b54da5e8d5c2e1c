/** What a member asks of the store when it starts is asked again until the store answers. */

import { HeddleError } from '../src/errors.ts'
import type { Env } from './env.ts'
import { pause } from './pause.ts'

/**
 * Where a node of the store comes or goes there may be no quorum for some seconds. Nobody is served
 * worse because a member that starts waits for it; whoever starts it by hand wants to hear.
 */
const patienceMs = 30_000
const pauseMs = 250

/** `work` may be done again. Throws what it throws; `unavailable` only when that lasts. */
export async function firstAnswer<Answer>(env: Env, work: () => Promise<Answer>): Promise<Answer> {
  const beganMs = env.monotonicMs()
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      const late = env.monotonicMs() - beganMs > patienceMs
      if (late || HeddleError.from(error).code !== 'unavailable') throw error
      if (tries === 1) {
        env.log.warn('The store does not answer yet: this member waits for it.', { error })
      }
    }
    await pause(env, pauseMs)
  }
}
