/** Time to live of new threads, from the project's `checkpointer.ttl`. */

import { z } from 'zod'

import { expiryStrategies } from '../../search/index.ts'
import type { TimeToLiveRequest } from '../../search/index.ts'

/** Longest time to live in minutes: a hundred years. */
const minutesMax = 52_560_000

const minutes = z.number('must be a number of minutes')
  .positive('must be more than 0').max(minutesMax, 'must be 100 years at most')

/**
 * The shape of `checkpointer`. Sweeps are checked and have no effect: each thread is deleted at its
 * time, a few at once.
 */
export const checkpointerShape = z.looseObject({
  ttl: z.looseObject({
    strategy: z.enum(expiryStrategies, `must be ${expiryStrategies.join(' or ')}`).nullish(),
    default_ttl: minutes.nullish(),
    sweep_interval_minutes: minutes.nullish(),
    sweep_limit: z.int('must be an integer').positive('must be more than 0').nullish(),
  }, { error: 'must be an object' }).nullish(),
}, { error: 'must be an object' })

/** The time to live of new threads; undefined if they live until they are deleted. */
export function timeToLiveOf(
  checkpointer: z.infer<typeof checkpointerShape> | null | undefined,
): TimeToLiveRequest | undefined {
  const { default_ttl: asked, strategy } = checkpointer?.ttl ?? {}
  return asked == null ? undefined : { strategy: strategy ?? 'delete', minutes: asked }
}
