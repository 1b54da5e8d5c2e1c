/**
 * Pace at which a member gives its shards back.
 *
 * A stopped shard is not served until another member has taken it. So only a few are stopped at
 * once, and the others are served until their turn comes.
 */

import { limitConcurrency } from '../flow/limit-concurrency.ts'
import { atLatest } from '../flow/with-timeout.ts'
import type { Env } from '../runtime/env.ts'

/** Shards that are stopped at once. */
const releasedAtOnce = 4
/** A shard in which something takes longer to end does not keep the next one waiting. */
const turnMs = 200
/** A shard without a taker keeps the next one waiting no longer than this. */
const takenMs = 1_000

/** One shard that is to be given back. */
export interface PacedRelease {
  /** Stops the shard and gives it back. Resolves when it is free, and never throws. */
  release(): Promise<void>
  /** Resolves when a member owns the shard. */
  taken(): Promise<void>
}

/** The result resolves when the shard is free. It begins when its turn comes. */
export function releasePace(env: Env): (shard: PacedRelease) => Promise<void> {
  const paced = limitConcurrency(releasedAtOnce)
  return async ({ release, taken }) => {
    let released: Promise<void> | undefined
    await paced(async () => {
      released = release()
      const isFree = await atLatest(env, turnMs, released.then(() => true))
      if (isFree) await atLatest(env, takenMs, taken())
    })
    await released
  }
}
