/** Waits for a run through changes of its owner, until it has ended or the caller is gone. */

import { Backoff } from '../../../cluster/index.ts'
import type { Env } from '../../../cluster/index.ts'
import type { JsonText } from '../../checkpoint/index.ts'
import { HeddleError } from '../../errors.ts'

/** A wait for a run, and how an owner is asked for its result. */
export interface JoinAcrossOwners {
  readonly env: Pick<Env, 'after' | 'monotonicMs' | 'random'>
  /** Asks the present owner; throws at once if `cancelled` has aborted. */
  join(): Promise<JsonText>
  /** True for the caller that made the run: it waits for an owner without a limit. */
  readonly made?: boolean
  /** Starts the run again if it was lost. Missing if the run was on disk before the wait. */
  readonly startAgain?: (() => Promise<void>) | undefined
  /** Aborts, with a HeddleError as its reason, when the caller has gone. */
  readonly cancelled?: AbortSignal | undefined
}

/** Time for which an owner is looked for. An answer that took longer came from an owner. */
const patienceMs = 60_000

/** Pauses between tries. The caller waits, so they do not grow. */
const pauses = { firstMs: 250, longestMs: 250 }

/**
 * Throws an error that every owner would answer with, or the last one when the time is up. A
 * caller that made the run has no such limit.
 */
export async function joinSteadily(
  { env, join, made = false, startAgain, cancelled }: JoinAcrossOwners,
): Promise<JsonText> {
  let mayBeLost = startAgain !== undefined
  const backoff = new Backoff(env, pauses)
  let untilMs = env.monotonicMs() + patienceMs
  for (let again = false;; again = true) {
    const askedMs = env.monotonicMs()
    try {
      return await join()
    } catch (caught) {
      const error = HeddleError.from(caught)
      const nowMs = env.monotonicMs()
      if (nowMs - askedMs >= patienceMs) untilMs = nowMs + patienceMs
      // A run that was on disk is missing only if it was deleted.
      if (error.details.written === true || error.details.deleted === true) mayBeLost = false
      const isMissing = error.code === 'not_found' && (again || error.details.again === true)
      if (cancelled?.aborted) throw caught
      if (mayBeLost && isMissing) await startAgain!()
      else if (!mayChange(error, made) || (!made && nowMs >= untilMs)) throw caught
    }
    await backoff.pause()
  }
}

/** True if asking again may help: the actor went away, or is out of reach. */
function mayChange({ code, retry, details, outcome }: HeddleError, made: boolean): boolean {
  if (outcome === 'maybe_done') return true
  // After it, the caller that made the run would start a second one; others just ask again.
  if (code === 'full') return made
  return retry !== 'no' && code !== 'internal' && details.unwritten !== true
}
