/** Waiting for a while. */

import type { Env } from '../runtime/env.ts'

export function pause(env: Pick<Env, 'after'>, ms: number): Promise<void> {
  return new Promise((done) => env.after(ms, done))
}
