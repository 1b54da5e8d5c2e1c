/** Writes of an actor whose memory must not differ from what is stored. */

import type { ActorContext } from '../../cluster/index.ts'

/**
 * Result of a write. After a failure it is not known what is stored, so the activation ends, and
 * the next one reads it.
 */
export async function orFail<Result>(context: Pick<ActorContext, 'fail'>,
  work: Promise<Result>): Promise<Result> {
  try {
    return await work
  } catch (error) {
    context.fail(error)
    throw error
  }
}
