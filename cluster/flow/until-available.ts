/** Repeats work on the store for as long as the store cannot be reached. */

import { hasCode } from '../errors.ts'
import type { Env } from '../runtime/env.ts'
import { Backoff } from './backoff.ts'

/** Pauses between tries. They do not grow, because a caller waits. */
const pauses = { firstMs: 250, longestMs: 250 }

/** Listener of the waits, and the sign that ends the repeats. */
export interface Patience {
  readonly env: Pick<Env, 'after' | 'random'>
  /** True once the caller has gone: work is not repeated any more. */
  readonly hasEnded: () => boolean
  /** Called when it has to be done again, once for each piece of work. */
  readonly waits: (error: unknown) => void
}

/**
 * `work` may be done again. Throws any error but `unavailable`, and the last one when the
 * caller has gone.
 */
export async function untilAvailable<Result>({ env, hasEnded, waits }: Patience,
  work: () => Promise<Result>): Promise<Result> {
  const backoff = new Backoff(env, pauses)
  for (let tries = 1;; tries++) {
    try {
      return await work()
    } catch (error) {
      if (hasEnded() || !hasCode(error, 'unavailable')) throw error
      if (tries === 1) waits(error)
      await backoff.pause()
      if (hasEnded()) throw error
    }
  }
}
