/** Waits for a run through changes of its owner, until it is over or nobody waits any more. */

import { pause } from '../../cluster/index.ts'
import type { Env } from '../../cluster/index.ts'
import type { JsonText } from '../checkpoint/index.ts'
import { HeddleError } from '../errors.ts'
import type { JoinRun } from './client.ts'

export interface SteadyJoin extends JoinRun {
  readonly env: Pick<Env, 'after' | 'monotonicMs'>
  /** Waits at the owner of now; throws at once when `gone` has aborted. */
  join(): Promise<JsonText>
}

/** How long an owner is looked for. Whoever waited longer than this had one. */
const patienceMs = 60_000

const againMs = 250

/**
 * Throws what no other owner would answer otherwise, and what is thrown when all patience is used
 * up: that of whoever made the run never is.
 */
export async function joinSteadily({ env, join, startAgain, gone }: SteadyJoin):
Promise<JsonText> {
  const made = startAgain !== undefined
  let untilMs = env.monotonicMs() + patienceMs
  for (let again = false; ; again = true) {
    const askedMs = env.monotonicMs()
    try {
      return await join()
    } catch (caught) {
      const error = HeddleError.from(caught)
      const nowMs = env.monotonicMs()
      if (nowMs - askedMs >= patienceMs) untilMs = nowMs + patienceMs
      const isLost = error.code === 'not_found' && (again || error.facts['again'] === true)
      if (gone?.aborted) throw caught
      if (made && isLost) await startAgain()
      else if (!mayChange(error, made) || (!made && nowMs >= untilMs)) throw caught
    }
    await pause(env, againMs)
  }
}

/** The actor went, or is out of reach: it is worth asking the next one. */
function mayChange({ code, retry, facts, ambiguous }: HeddleError, made: boolean): boolean {
  if (ambiguous) return true
  // Who did not make the run can ask later as well; who did would make another.
  if (code === 'full') return made
  return retry !== 'no' && code !== 'internal' && facts['unwritten'] !== true
}
