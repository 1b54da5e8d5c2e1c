/** Waits for a run through changes of its owner. */

import { pause } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import type { JsonText } from '../checkpoint/index.ts'
import { HeddleError } from '../errors.ts'

/** How long an owner is looked for. Whoever waited longer than this had one. */
const patienceMs = 60_000

const againMs = 250

/**
 * Throws what no other owner would answer otherwise, with `again` among the facts where it is not
 * known what an earlier one would have said, and what is thrown when all patience is used up.
 */
export async function joinSteadily(env: Pick<Env, 'after' | 'monotonicMs'>,
  join: () => Promise<JsonText>): Promise<JsonText> {
  let untilMs = env.monotonicMs() + patienceMs
  for (let tries = 1; ; tries++) {
    const askedMs = env.monotonicMs()
    try {
      return await join()
    } catch (error) {
      const nowMs = env.monotonicMs()
      if (nowMs - askedMs >= patienceMs) untilMs = nowMs + patienceMs
      if (nowMs >= untilMs || !mayChange(error)) {
        throw tries > 1 ? HeddleError.from(error).with({ again: true }) : error
      }
    }
    await pause(env, againMs)
  }
}

/** The actor went, or is out of reach: it is worth asking the next one. */
function mayChange(error: unknown): boolean {
  const { code, retry, facts, ambiguous } = HeddleError.from(error)
  if (ambiguous) return true
  return retry !== 'no' && code !== 'internal' && code !== 'full' && facts['unwritten'] !== true
}
