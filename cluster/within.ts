/** A promise that is waited for no longer than so long. */

import type { Env } from './env.ts'

type Timer = Pick<Env, 'after'>

/** What `promise` brings, or a throw of what `late` makes after `ms`. */
export function within<T>(env: Timer, ms: number, promise: Promise<T>, late: () => Error):
Promise<T> {
  return race<T, never>(env, ms, promise, ({ reject }) => reject(late()))
}

/** What `promise` brings, or undefined after `ms`. */
export function atLatest<T>(env: Timer, ms: number, promise: Promise<T>): Promise<T | undefined> {
  return race<T, undefined>(env, ms, promise, ({ resolve }) => resolve(undefined))
}

async function race<T, Late>(env: Timer, ms: number, promise: Promise<T>,
  end: (late: PromiseWithResolvers<Late>) => void): Promise<T | Late> {
  const late = Promise.withResolvers<Late>()
  const cancel = env.after(ms, () => end(late))
  try {
    return await Promise.race([promise, late.promise])
  } finally {
    cancel()
  }
}
