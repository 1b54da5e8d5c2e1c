/** Reads what a run needs of its thread, however long the store is out of reach. */

import { pause } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'

const againMs = 250

export interface SteadyReading {
  readonly env: Pick<Env, 'after'>
  /** Nobody waits for it any more. */
  readonly isOver: () => boolean
  /** Called where it has to be read again, once for each reading. */
  readonly waits: (error: unknown) => void
}

/**
 * A store that cannot be reached is nobody's fault who runs on it: the run waits, as its appends
 * do, instead of using up its attempts. Throws whatever else went wrong, and what was thrown last
 * where nobody waits any more.
 */
export async function readSteadily<Result>({ env, isOver, waits }: SteadyReading,
  read: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; ; tries++) {
    try {
      return await read()
    } catch (error) {
      if (isOver() || HeddleError.from(error).code !== 'unavailable') throw error
      if (tries === 1) waits(error)
      await pause(env, againMs)
      if (isOver()) throw error
    }
  }
}
