/** Does what the store has to answer, again and again while it is out of reach. */

import { HeddleError } from '../src/errors.ts'
import type { Env } from './env.ts'
import { pause } from './pause.ts'

const againMs = 250

export interface Patience {
  readonly env: Pick<Env, 'after'>
  /** Nobody waits for it any more. */
  readonly isOver: () => boolean
  /** Called where it has to be done again, once for each piece of work. */
  readonly waits: (error: unknown) => void
}

/**
 * `work` may be done again. Throws whatever is not `unavailable`, and what was thrown last where
 * nobody waits any more.
 */
export async function untilAvailable<Result>({ env, isOver, waits }: Patience,
  work: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (isOver() || HeddleError.from(error).code !== 'unavailable') throw error
      if (tries === 1) waits(error)
      await pause(env, againMs)
      if (isOver()) throw error
    }
  }
}
