/** Work that takes turns with other work of the platform. */

import type { FairSemaphore } from '../../../cluster/index.ts'
import { HeddleError } from '../../errors.ts'

/**
 * Waits for a turn. Resolves with the function that ends it. Throws `full`, after which another try
 * may succeed.
 */
export async function enterTurn(turns: FairSemaphore, subject: string,
  signal?: AbortSignal): Promise<() => void> {
  try {
    return await turns.enter(subject, signal)
  } catch (error) {
    signal?.throwIfAborted()
    throw HeddleError.from(error).with({ retryAfterSeconds: 1 })
  }
}

/** Does the work in a turn. Throws what it throws, and `full` as `enterTurn` does. */
export async function inTurn<Result>(turns: FairSemaphore, subject: string,
  work: () => Promise<Result>): Promise<Result> {
  const leave = await enterTurn(turns, subject)
  try {
    return await work()
  } finally {
    leave()
  }
}
