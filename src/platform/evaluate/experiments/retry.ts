/** Decides which failures of a run are tried again, and when. Pure. */

import { HeddleError, isOwnFailure } from '../../../errors.ts'

/** Consequence of a failure. */
export type AfterFailure =
  /** A limit is reached, which is no failure of the run: it waits as long as the limit says. */
  | { readonly kind: 'wait'; readonly ms: number }
  /** It may pass. */
  | { readonly kind: 'again'; readonly ms: number }
  /** It comes again whenever it is tried. */
  | { readonly kind: 'failed' }
  /** This server fails, and not the run. */
  | { readonly kind: 'own' }

/** Tries of a run that fails in a way that may pass. */
const triesMax = 3
/** Pauses without a word of the limit, and the longest ones. */
const [firstMs, longestAgainMs, longestWaitMs] = [1_000, 30_000, 24 * 3_600_000]

const limits: ReadonlySet<string> = new Set(['limited', 'full', 'over_quota'])

/** Decides by the error, and by the tries so far. */
export function afterFailure(error: HeddleError, tries: number): AfterFailure {
  const { code, retry, details } = error
  const { retryAfterSeconds: seconds, answeredStatus: answered } = details
  if (limits.has(code) || answered === 429) {
    return { kind: 'wait', ms: Math.min(longestWaitMs, (seconds ?? 1) * 1_000) }
  }
  if (isOwnFailure(error)) return { kind: 'own' }
  if ((retry === 'no' && seconds === undefined) || tries >= triesMax) return { kind: 'failed' }
  return { kind: 'again',
    ms: Math.min(longestAgainMs, Math.max((seconds ?? 0) * 1_000, firstMs * 2 ** (tries - 1))) }
}

/**
 * Returns the milliseconds left of a wait that lasts until `untilMs`. `nowMs` comes from a cautious
 * clock. A wait that is longer than any was noted under a clock that was ahead, and is over.
 */
export function remainingWaitMs(untilMs: number | null, nowMs: number): number {
  const leftMs = (untilMs ?? 0) - nowMs
  return leftMs > longestWaitMs ? 0 : Math.max(0, leftMs)
}

/** Thrown by a run that waits for a limit. */
export class LimitReached extends HeddleError {
  readonly waitMs: number
  constructor(cause: HeddleError, waitMs: number) {
    super(cause.code, cause.message, cause.details)
    this.waitMs = waitMs
  }
}
