/** A promise that is waited for no longer than so long. */

import type { Env } from './env.ts'

/** What `promise` brings, or a throw of what `late` makes after `ms`. */
export async function within<T>(env: Env, ms: number, promise: Promise<T>, late: () => Error):
Promise<T> {
  const { promise: lateness, reject } = Promise.withResolvers<never>()
  const cancel = env.after(ms, () => reject(late()))
  try {
    return await Promise.race([promise, lateness])
  } finally {
    cancel()
  }
}
