/** A clock of the machine that is ahead for a while. */

import type { Env } from '../../cluster/index.ts'

const aheadMs = 60 * 86_400_000

/** Moves the wall clock 60 days ahead until the work has ended. No timer fires for it. */
export async function clockAhead(env: Pick<Env, 'nowMs'>,
  work: () => Promise<unknown>): Promise<void> {
  const mutable: { nowMs: () => number } = env
  const { nowMs } = mutable
  mutable.nowMs = () => nowMs() + aheadMs
  try {
    await work()
  } finally {
    mutable.nowMs = nowMs
  }
}
