/** Work that ends in time, or as soon as it is given up. */

import type { Env } from '../../cluster/index.ts'
import { HeddleError } from '../errors.ts'

/** Aborts the work with `unavailable` if it takes longer than `ms` milliseconds. */
export async function withinTime<Result>(env: Pick<Env, 'after'>, ms: number, stopped: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  const late = new AbortController()
  const stop = env.after(ms, () => late.abort(tookLonger(ms)))
  try {
    return await work(AbortSignal.any([stopped, late.signal]))
  } finally {
    stop()
  }
}

/** Throws the signal's reason as soon as that aborts. */
export async function untilAborted<Result>(signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Result>): Promise<Result> {
  signal.throwIfAborted()
  const aborted = Promise.withResolvers<never>()
  const abort = () => aborted.reject(signal.reason)
  signal.addEventListener('abort', abort, { once: true })
  try {
    return await Promise.race([work(signal), aborted.promise])
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** The error of what did not end in time. */
export function tookLonger(ms: number): HeddleError {
  return new HeddleError('unavailable', `it took longer than ${ms / 1_000} seconds`)
}
