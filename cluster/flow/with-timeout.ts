/** Waiting for a promise for a limited time. */

import type { Env } from '../runtime/env.ts'

type Timer = Pick<Env, 'after'>

/** The result of `promise`; after `ms`, throws the error that `late` makes. */
export function withTimeout<T>(env: Timer, ms: number, promise: Promise<T>,
  late: () => Error): Promise<T> {
  return race<T, never>(env, ms, promise, ({ reject }) => reject(late()))
}

/** The result of `promise`, or undefined after `ms`. */
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
