/** Waiting for a while. */

import type { Env } from '../runtime/env.ts'

/** Resolves after `ms` milliseconds. Between tries of what failed, use `Backoff`. */
export function pause(env: Pick<Env, 'after'>, ms: number): Promise<void> {
  return new Promise((done) => env.after(ms, done))
}
